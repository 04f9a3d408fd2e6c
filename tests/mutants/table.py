"""The table of all mutations. A new invariant brings its own, in a file beside these."""

from collections.abc import Sequence

from tests.mutants.actors import ACTORS
from tests.mutants.advice import ADVICE
from tests.mutants.amending import AMENDING
from tests.mutants.answering import ANSWERING
from tests.mutants.approvals import APPROVALS_MUTATIONS
from tests.mutants.attacked import ATTACKED
from tests.mutants.authority import AUTHORITY_MUTATIONS
from tests.mutants.benches import BENCHES
from tests.mutants.bounding import BOUNDING
from tests.mutants.calendars import CALENDARS
from tests.mutants.carrying import CARRYING
from tests.mutants.compiling import COMPILING
from tests.mutants.correcting import CORRECTING
from tests.mutants.deciding import DECIDING_MUTATIONS
from tests.mutants.definitions import DEFINITIONS
from tests.mutants.done_once import DONE_ONCE
from tests.mutants.engine import ENGINE
from tests.mutants.events import EVENTS
from tests.mutants.fairness import FAIRNESS
from tests.mutants.giving_back import GIVING_BACK
from tests.mutants.going_back import GOING_BACK
from tests.mutants.going_on import GOING_ON
from tests.mutants.granting import GRANTING
from tests.mutants.heavy import HEAVY
from tests.mutants.hindering import HINDERING
from tests.mutants.holding import HOLDING
from tests.mutants.keeping import KEEPING
from tests.mutants.leaving import LEAVING
from tests.mutants.lines import LINES
from tests.mutants.losing import LOSING
from tests.mutants.machines import MACHINES
from tests.mutants.mutation import Mutation
from tests.mutants.outbox import OUTBOX
from tests.mutants.pinning import PINNING
from tests.mutants.pointing import POINTING
from tests.mutants.proving import PROVING
from tests.mutants.reading import READING
from tests.mutants.recording import RECORDING
from tests.mutants.repairing import REPAIRING
from tests.mutants.scenes import SCENES_OF_AUTHORITY
from tests.mutants.seeing import SEEING
from tests.mutants.starting import STARTING
from tests.mutants.surroundings import SURROUNDINGS
from tests.mutants.telling import TELLING
from tests.mutants.times import TIMES
from tests.mutants.two_people import TWO_PEOPLE
from tests.mutants.unasked import UNASKED
from tests.mutants.views import VIEWS_OF_AUTHORITY
from tests.mutants.voting import VOTING
from tests.mutants.waking import WAKING
from tests.mutants.ways import WAYS_MUTATIONS

MUTATIONS: Sequence[Mutation] = (
    *DEFINITIONS,
    *COMPILING,
    *OUTBOX,
    *BOUNDING,
    *HEAVY,
    *ENGINE,
    *GIVING_BACK,
    *WAKING,
    *APPROVALS_MUTATIONS,
    *DECIDING_MUTATIONS,
    *GRANTING,
    *BENCHES,
    *LINES,
    *LOSING,
    *AUTHORITY_MUTATIONS,
    *LEAVING,
    *KEEPING,
    *TWO_PEOPLE,
    *MACHINES,
    *SURROUNDINGS,
    *PROVING,
    *WAYS_MUTATIONS,
    *SCENES_OF_AUTHORITY,
    *VIEWS_OF_AUTHORITY,
    *PINNING,
    *POINTING,
    *SEEING,
    *READING,
    *CARRYING,
    *VOTING,
    *ACTORS,
    *ANSWERING,
    *CORRECTING,
    *ATTACKED,
    *HINDERING,
    *HOLDING,
    *AMENDING,
    *UNASKED,
    *REPAIRING,
    *RECORDING,
    *TELLING,
    *DONE_ONCE,
    *GOING_BACK,
    *GOING_ON,
    *ADVICE,
    *FAIRNESS,
    *CALENDARS,
    *STARTING,
    *TIMES,
    *EVENTS,
)

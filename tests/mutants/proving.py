"""Rules of who stands behind an act and of what a gate believes, each broken on purpose."""

from collections.abc import Sequence

from tests.mutants.mutation import Mutation

SIGNET = "shared/signet"
SCENES = "tests/scenarios/authority"
VOTERS = f"{SCENES}/test_voters_and_gates.py::test_"
THROUGH = f"{SCENES}/test_through_the_workflow.py::test_"
AGAIN = f"{SCENES}/test_asking_again.py::test_"
LEFT = f"{SCENES}/test_requesters_who_left.py::test_"

PROVING: Sequence[Mutation] = (
    Mutation(
        "a step of the system has nobody behind it",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        " | change.content_responsible | of_origin\n",
        "\n",
        (f"{THROUGH}a_chain_of_three_documents_forgets_nobody",),
    ),
    Mutation(
        "a value that a rule sets has no author",
        3,
        f"{SIGNET}/engine/documents/rules.py",
        "        change.content_responsible |= compiled.responsible",
        "        pass",
        (f"{THROUGH}the_author_of_a_rule_does_not_approve_what_it_set",),
    ),
    Mutation(
        "a document with as many persons as a set holds never ends",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        "    if change.before is None or change.content_responsible or _may_write_content(change):\n",
        "    if True:\n",
        (
            f"{SCENES}/test_full_documents.py::test_another_person_cancels_it",
            f"{SCENES}/test_full_documents.py::test_another_person_decides_about_it",
        ),
    ),
    Mutation(
        "an edit makes more persons responsible than a set holds",
        3,
        f"{SIGNET}/engine/documents/persons/authorship.py",
        "    if change.before is None or change.content_responsible or _may_write_content(change):\n",
        "    if False:\n",
        (f"{SCENES}/test_full_documents.py::test_an_edit_by_another_person_is_refused",),
    ),
    Mutation(
        "who changed a pinned field may decide",
        3,
        f"{SIGNET}/core/approvals/pins.py",
        'for person in pin.get("responsible", ()))',
        "for person in ())",
        (f"{THROUGH}who_changed_the_account_does_not_approve_the_payment",),
    ),
    Mutation(
        "steps behind a gate read other documents as they are",
        3,
        f"{SIGNET}/engine/documents/change.py",
        "return read_as_approved(self.pins, data, self.refs.of(",
        "return read_as_approved({}, data, self.refs.of(",
        (f"{THROUGH}what_is_approved_is_what_is_paid",),
    ),
    Mutation(
        "one person approves twice",
        3,
        f"{SIGNET}/core/approvals/eligibility.py",
        '        if vote == "approved" and voter in voting.approved_elsewhere:',
        "        if False:",
        (f"{VOTERS}one_person_does_not_approve_in_two_stages",),
    ),
    Mutation(
        "a seat is enough to vote",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "            if denial is not None:\n                return denial\n        return None\n",
        "        return None\n",
        (f"{VOTERS}a_seat_without_the_permission_is_not_enough",),
    ),
    Mutation(
        "a gate believes the seats",
        3,
        f"{SIGNET}/core/approvals/proof.py",
        "    if vote is None:\n",
        "    if vote is None:\n        return seat\n    if vote is None:\n",
        ("tests/unit/core/approvals/test_proof.py::test_seats_say_nothing_of_their_own",),
    ),
    Mutation(
        "a vote without its audit row counts",
        3,
        f"{SIGNET}/core/approvals/proof.py",
        "    if vote.audited is None:\n",
        "    if vote.audited is None:\n        return None\n    if vote.audited is None:\n",
        (f"{VOTERS}a_decision_without_its_audit_row_proves_nothing",),
    ),
    Mutation(
        "a vote of a person who has left counts",
        3,
        f"{SIGNET}/core/approvals/entitlement.py",
        "        if gone is not None:\n",
        "        if False:\n",
        ("tests/unit/core/approvals/test_entitlement.py::test_a_vote_for_another_lapses_with_either",),
    ),
    Mutation(
        "a requester who has left still asks",
        3,
        f"{SIGNET}/engine/execution/nodes/registry.py",
        "    if problem is not None:\n",
        "    if False:\n",
        (f"{LEFT}nothing_is_done_in_the_name_of_a_requester_who_was_disabled",),
    ),
    Mutation(
        "asking again finds another approver",
        3,
        f"{SIGNET}/core/approvals/seats/rejecters.py",
        " in again and is_drawn(stage, again[at]) else seat",
        " in again and False else seat",
        (f"{AGAIN}an_unchanged_document_goes_back_to_who_rejected_it",),
    ),
)

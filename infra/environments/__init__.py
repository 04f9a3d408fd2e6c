"""The environments by name. `local` is dev's on an emulator; the others are real."""

from infra.environments.dev import DEV
from infra.environments.local import LOCAL
from infra.environments.prod import PROD
from infra.environments.staging import STAGING

ENVIRONMENTS = {settings.name: settings for settings in (DEV, STAGING, PROD, LOCAL)}
# These are deployed to an account.
DEPLOYED = [DEV.name, STAGING.name, PROD.name]

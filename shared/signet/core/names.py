"""What a name is that a tenant gives: to a type, a field, a role, a secret."""

import re

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
NAME_PATTERN = rf"^{NAME.pattern}$"

"""Faults in the control that two people change: one person is enough after all."""

from tests.mutants.mutation import Mutation

FOUR_EYES = "shared/signet/engine/control/four_eyes.py"
CHANGES = "shared/signet/engine/control/changes.py"
PROPOSALS = "shared/signet/engine/control/proposals.py"
SCENES = "tests/functions/routes/control/test_four_eyes.py::test_"
HTTP = "tests/functions/routes/control/test_control_changes.py::test_"

TWO_PEOPLE = (
    Mutation(
        "an author publishes the own draft",
        4,
        FOUR_EYES,
        "    if shared and wants_two_people(act):\n",
        "    if False:\n",
        (f"{SCENES}who_wrote_a_draft_does_not_publish_it",),
    ),
    Mutation(
        "the name of a publisher is compared, and not the persons behind it",
        4,
        FOUR_EYES,
        "shared = find_shared_persons(authors, list_persons(act.caller.principal))",
        "shared = find_shared_persons(authors, [act.caller.principal.subject])",
        (f"{SCENES}who_wrote_a_draft_does_not_publish_it",),
    ),
    Mutation(
        "a key writes for nobody",
        4,
        FOUR_EYES,
        "return sorted(join_responsible(known, persons, recent))",
        "return sorted(join_responsible(known, [principal.subject]))",
        (f"{SCENES}what_a_key_wrote_its_maker_does_not_publish",),
    ),
    Mutation(
        "the last person who saved a draft is its only author",
        4,
        FOUR_EYES,
        "return sorted(join_responsible(known, persons, recent))",
        "return sorted(persons)",
        (f"{SCENES}a_change_by_another_person_leaves_the_first_author_one",),
    ),
    Mutation(
        "a deleted draft takes its author with it",
        4,
        FOUR_EYES,
        "return sorted(join_responsible(known, persons, recent))",
        "return sorted(join_responsible(known, persons))",
        (f"{SCENES}a_draft_that_is_deleted_and_saved_by_another_keeps_its_author",),
    ),
    Mutation(
        "authors of what was published stay authors for ever",
        4,
        "shared/signet/store/control/authorship.sql",
        "  AND a.saved_at > coalesce(\n",
        "  AND a.saved_at > least('-infinity',\n",
        (f"{SCENES}authors_of_what_was_published_may_publish_the_next",),
    ),
    Mutation(
        "a person confirms the own proposal",
        4,
        CHANGES,
        "    if shared:\n",
        "    if False:\n",
        (
            f"{SCENES}the_address_of_an_endpoint_takes_two_people",
            f"{SCENES}settings_that_conditions_read_take_two_people",
            f"{SCENES}a_workflow_in_force_changes_by_two_people",
            f"{SCENES}a_chain_is_archived_by_two_people",
        ),
    ),
    Mutation(
        "a key confirms what its maker proposed",
        4,
        CHANGES,
        "shared = find_shared_persons(change.responsible, list_persons(act.caller.principal))\n"
        "    if shared:",
        "shared = find_shared_persons(change.responsible, [act.caller.principal.subject])\n    if shared:",
        (f"{SCENES}the_address_of_an_endpoint_takes_two_people",),
    ),
    Mutation(
        "a maker confirms what the own key proposed",
        4,
        CHANGES,
        "shared = find_shared_persons(change.responsible, list_persons(act.caller.principal))\n"
        "    if shared:",
        "shared = find_shared_persons([change.proposed_by], list_persons(act.caller.principal))\n"
        "    if shared:",
        (f"{SCENES}a_key_proposes_and_its_maker_does_not_confirm",),
    ),
    Mutation(
        "a confirmation is of anything",
        4,
        CHANGES,
        "            if change.hash != digest:\n",
        "            if False:\n",
        (f"{SCENES}a_confirmation_is_of_what_was_read",),
    ),
    Mutation(
        "a rejection needs no permission",
        4,
        CHANGES,
        "            act.require(things.change_control_permission)\n"
        '            _end(act, change, "rejected")',
        '            _end(act, change, "rejected")',
        (f"{HTTP}people_see_the_kinds_that_they_may_read_or_make",),
    ),
    Mutation(
        "a caller behind which nobody is known is another person",
        4,
        FOUR_EYES,
        "    if not principal.responsible:\n",
        "    if False:\n",
        (f"{SCENES}a_caller_behind_which_nobody_is_known_is_no_other_person",),
    ),
    Mutation(
        "what was altered in the table is confirmed",
        4,
        PROPOSALS,
        "    if hash_change(row.kind, row.name, row.act, row.base_version, row.body) != row.hash:\n",
        "    if False:\n",
        (f"{HTTP}a_change_that_was_altered_in_the_table_is_never_applied",),
    ),
    Mutation(
        "a proposal never expires",
        4,
        "shared/signet/store/control/changes.sql",
        "CASE WHEN status = 'proposed' AND expires_at <= now() THEN 'expired' ELSE status END AS status",
        "status",
        (f"{HTTP}a_proposal_expires",),
    ),
    Mutation(
        "a change leaves the proposals beside it open",
        4,
        CHANGES,
        "            supersede(act, change.kind, change.name)\n",
        "",
        (f"{HTTP}a_change_supersedes_what_was_proposed_beside_it",),
    ),
    Mutation(
        "any number of proposals may be open",
        4,
        PROPOSALS,
        ">= MAX_OPEN_CHANGES:",
        "< 0:",
        (f"{HTTP}a_tenant_has_so_many_open_proposals",),
    ),
    Mutation(
        "an endpoint that is stopped gets another address by one person",
        4,
        "shared/signet/engine/integrations/endpoints.py",
        "    return _write(terms) in (_write(_terms_of(row)), _write(stopped))",
        "    return _write(terms) == _write(_terms_of(row)) or terms.status == stopped.status",
        (f"{HTTP}one_person_stops_an_endpoint_and_two_start_it",),
    ),
    Mutation(
        "an inbound endpoint changes by one person",
        4,
        "shared/signet/engine/integrations/inbound_events.py",
        "if not _stops(record, terms) and wants_two_people(act):",
        "if False:",
        (f"{HTTP}inbound_endpoints_take_two_people_and_stop_by_one",),
    ),
    Mutation(
        "a service account changes by one person",
        4,
        "shared/signet/engine/tenants/service_accounts.py",
        "if not _stops(before, new, status) and wants_two_people(act):",
        "if False:",
        (f"{HTTP}service_accounts_take_two_people_and_stop_by_one",),
    ),
    Mutation(
        "a rule is deleted by one person",
        4,
        "shared/signet/engine/definitions/rules.py",
        "            if wants_two_people(act):\n"
        '                return _propose(act, (entity_type, name), "delete"',
        '            if False:\n                return _propose(act, (entity_type, name), "delete"',
        (f"{HTTP}rules_are_made_changed_and_deleted_by_two_people",),
    ),
    Mutation(
        "a change is made on what has moved on",
        4,
        "shared/signet/engine/integrations/endpoints.py",
        "        if (row.version if row is not None else 0) != change.base_version:\n",
        "        if False:\n",
        (f"{HTTP}a_change_of_what_has_moved_on_is_refused",),
    ),
    Mutation(
        "one person switches it off",
        4,
        "shared/signet/engine/tenants/settings.py",
        "            if wants_two_people(act):\n",
        "            if wants_two_people(act) and change.four_eyes is not False:\n",
        (f"{SCENES}one_person_switches_it_on_and_two_switch_it_off",),
    ),
    Mutation(
        "a condition reads whether it is on",
        4,
        "shared/signet/core/contracts/expression_scope.py",
        "    own = {name: _SETTINGS[setting.type] for name, setting in settings.custom.items()}",
        "    own = {name: _SETTINGS[setting.type] for name, setting in settings.custom.items()}"
        ' | {"four_eyes": _SETTINGS["bool"]}',
        (f"{SCENES}no_condition_reads_whether_it_is_on",),
    ),
    Mutation(
        "an installation that is silent switches it off",
        4,
        "shared/signet/store/tenants/tenants.py",
        '"four_eyes" in tenant.settings.model_fields_set',
        "True",
        (f"{SCENES}an_installation_that_is_silent_leaves_it_on",),
    ),
    Mutation(
        "a single author is not named",
        4,
        "shared/signet/core/control/authorship.py",
        "return sorted(set(self.authors or ()) & set(self.publishers or ()))",
        "return []",
        (
            f"{SCENES}where_the_tenant_does_not_want_two_one_person_publishes_and_is_named",
            "tests/integration/engine/control/test_authorship.py::test_a_request_names_who_made_its_control_alone",
        ),
    ),
    Mutation(
        "a single author with a seat is not shown",
        4,
        "shared/signet/engine/approvals/request_view.py",
        "            seated.add(author)\n",
        "            pass\n",
        ("tests/integration/engine/control/test_authorship.py::test_an_author_who_is_asked_is_shown",),
    ),
)

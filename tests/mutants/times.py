"""Faults in the times at which schedules fire and waits end."""

from collections.abc import Sequence

from tests.mutants.mutation import NO_INVARIANT, Mutation

MOMENTS = "shared/signet/core/moments"
SCHEDULES = "shared/signet/core/schedules"
WALL = "tests/unit/core/moments/test_wall_time.py::test_"
DUE = "tests/unit/core/moments/test_due.py::test_"
FIRINGS = "tests/unit/core/schedules/test_firings.py::test_"
TIMER = "shared/signet/engine/execution/nodes/waits/timer.py"
WAITING = "tests/integration/engine/execution/nodes/test_wait_timer.py::test_"
FOLLOWING = "tests/integration/engine/execution/nodes/test_business_waits.py::test_"
REMINDING = "tests/integration/engine/execution/nodes/test_reminders.py::test_"
PROGRESS = "shared/signet/engine/execution/nodes/approval_progress.py"
CRON = "tests/unit/core/schedules/test_cron.py::test_other_text_is_refused"
CATCH_UP = "tests/unit/core/schedules/test_catch_up.py::test_"
CHANGES = "tests/zones/test_clock_changes.py::test_no_firing_is_lost_or_doubled[0]"

TIMES: Sequence[Mutation] = (
    Mutation(
        "a time in a gap fires although it is to be skipped",
        NO_INVARIANT,
        f"{MOMENTS}/wall_time.py",
        '    if reading.change is ClockChange.GAP and policy.gap == "skip":\n        return ()\n',
        "",
        (f"{WALL}a_policy_chooses", CHANGES),
    ),
    Mutation(
        "a time in a gap fires an hour late",
        NO_INVARIANT,
        f"{MOMENTS}/wall_time.py",
        "    return WallReading((_find_change(new, old, zone),), ClockChange.GAP)\n",
        "    return WallReading((old,), ClockChange.GAP)\n",
        (f"{WALL}the_moments_of_a_wall_time", CHANGES),
    ),
    Mutation(
        "of two times the other one fires",
        NO_INVARIANT,
        f"{MOMENTS}/wall_time.py",
        'reading.moments[:1] if policy.fold == "first" else reading.moments[1:]',
        'reading.moments[1:] if policy.fold == "first" else reading.moments[:1]',
        (f"{WALL}a_policy_chooses", CHANGES),
    ),
    Mutation(
        "a time that comes twice fires once",
        NO_INVARIANT,
        f"{MOMENTS}/wall_time.py",
        ' and policy.fold != "twice":\n',
        ":\n",
        (f"{WALL}a_policy_chooses",),
    ),
    Mutation(
        "two firings of a fold come in the order of the wall clock",
        NO_INVARIANT,
        f"{SCHEDULES}/firings.py",
        "        held = sorted((*held, *occurrences), key=lambda occurrence: occurrence.at)\n",
        "        held = [*held, *occurrences]\n",
        (f"{FIRINGS}a_fold", CHANGES),
    ),
    Mutation(
        "the second firing is lost for who asks between the two",
        NO_INVARIANT,
        f"{SCHEDULES}/firings.py",
        "    first = write_wall_time(after, zone) - max(put_back, timedelta())\n",
        "    first = write_wall_time(after, zone)\n",
        (f"{FIRINGS}a_fold", CHANGES),
    ),
    Mutation(
        "two times in one gap fire twice",
        NO_INVARIANT,
        f"{SCHEDULES}/firings.py",
        "            if occurrence.at == fired and occurrence.fate.fires:\n",
        "            if False:\n",
        (f"{FIRINGS}a_gap", CHANGES),
    ),
    Mutation(
        "an hourly schedule rests for an hour when the clock is put back",
        NO_INVARIANT,
        f"{SCHEDULES}/schedule.py",
        '    return WallPolicy(gap or "skip", fold or "twice")\n',
        '    return WallPolicy(gap or "once", fold or "first")\n',
        ("tests/unit/core/schedules/test_schedule.py::test_the_policy_where_none_is_named", CHANGES),
    ),
    Mutation(
        "a month after the 31st goes on into the next",
        NO_INVARIANT,
        f"{MOMENTS}/due.py",
        "    return wall.replace(year=year, month=month + 1, day=min(wall.day, last))\n",
        "    return wall.replace(day=1, year=year, month=month + 1) + timedelta(days=wall.day - 1)\n",
        (f"{DUE}a_duration_is_added",),
    ),
    Mutation(
        "hours are counted on the wall clock",
        NO_INVARIANT,
        f"{MOMENTS}/due.py",
        "        if duration.months or duration.days:\n",
        "        if True:\n",
        (f"{DUE}a_duration_is_added",),
    ),
    Mutation(
        "all missed ticks fire, however many",
        NO_INVARIANT,
        f"{SCHEDULES}/catch_up.py",
        "    skips.add(due[: -policy.at_most], SkipCause.OVER_THE_CAP)\n    return due[-policy.at_most :]\n",
        "    return due\n",
        (f"{CATCH_UP}all_fire_up_to_the_cap",),
    ),
    Mutation(
        "ticks from before the window fire",
        NO_INVARIANT,
        f"{SCHEDULES}/catch_up.py",
        "    opens = now - policy.window\n",
        "    opens = last\n",
        (f"{CATCH_UP}what_is_older_than_the_window_is_skipped",),
    ),
    Mutation(
        "a day that no month has is taken",
        NO_INVARIANT,
        f"{SCHEDULES}/cron.py",
        "for days in (cron, days_of_month)):\n",
        "for days in (cron,)):\n",
        (f"{CRON}[0 0 30 FEB MON-its day-of-month cannot be '30']",),
    ),
    Mutation(
        "an edit lets a wait count again",
        NO_INVARIANT,
        TIMER,
        "    return first or context.now\n",
        "    return context.now\n",
        (f"{WAITING}an_edit_counts_from_the_first_arrival_or_anew[None]",),
    ),
    Mutation(
        "a timer ends before its moment",
        NO_INVARIANT,
        TIMER,
        "        if due is not None and due <= context.now:\n",
        "        if due is not None:\n",
        (f"{WAITING}it_waits_until_its_moment_and_not_longer",),
    ),
    Mutation(
        "nothing wakes what waits for a moment",
        NO_INVARIANT,
        TIMER,
        "        context.wake_at(moment.due)\n        if not pending",
        "        if not pending",
        (f"{WAITING}it_waits_until_its_moment_and_not_longer",),
    ),
    Mutation(
        "a wait that does not follow moves with its calendar",
        NO_INVARIANT,
        TIMER,
        'return _follow(context, node, step) if node.config.get("follow") else None',
        "return _follow(context, node, step)",
        (f"{FOLLOWING}what_does_not_follow_keeps_its_moment",),
    ),
    Mutation(
        "a change of a calendar wakes nothing",
        NO_INVARIANT,
        "shared/signet/engine/calendars/calendars.py",
        "    wake_followers_of_calendar(act.connection, principal.tenant_id, name)\n",
        "",
        (f"{FOLLOWING}a_new_calendar_moves_what_follows_it",),
    ),
    Mutation(
        "a change of the settings wakes nothing",
        NO_INVARIANT,
        "shared/signet/engine/tenants/settings.py",
        "    wake_followers_of_settings(act.connection, tenant_id)\n",
        "",
        (f"{FOLLOWING}another_zone_of_the_tenant_moves_what_follows",),
    ),
    Mutation(
        "a step that writes the document lets what follows it wait on",
        NO_INVARIANT,
        "shared/signet/engine/execution/rows.py",
        "        context.wake_at(context.now)\n",
        "        pass\n",
        (f"{FOLLOWING}a_step_beside_it_moves_a_wait_that_follows_the_document",),
    ),
    Mutation(
        "a wait that follows is not looked at once more",
        NO_INVARIANT,
        TIMER,
        "        context.wake_at(context.now + LOOK_AGAIN)\n",
        "",
        (f"{FOLLOWING}a_change_that_the_wave_of_the_arrival_does_not_see_is_found_a_minute_later",),
    ),
    Mutation(
        "one edit puts a deadline off",
        NO_INVARIANT,
        "shared/signet/store/instances/earlier_steps.py",
        '["cancelled", "running"] if is_cut_now',
        '["cancelled"] if is_cut_now',
        (f"{WAITING}an_edit_counts_from_the_first_arrival_or_anew",),
    ),
    Mutation(
        "an event has the key of what waits follow",
        NO_INVARIANT,
        "shared/signet/core/integrations/inbound_events.py",
        "    if is_followed(key):\n",
        "    if False:\n",
        (
            "tests/unit/core/integrations/test_inbound_events.py::test_no_event_has_the_key_of_what_waits_follow",
        ),
    ),
    Mutation(
        "it reminds for ever",
        NO_INVARIANT,
        PROGRESS,
        " and request.reminders + 1 < terms.at_most",
        "",
        (f"{REMINDING}it_reminds_as_often_as_it_says_and_no_more",),
    ),
    Mutation(
        "it reminds those who have decided",
        NO_INVARIANT,
        PROGRESS,
        '(seat for seat in seats_of_stage(request) if seat.status == "open")',
        "(seat for seat in seats_of_stage(request))",
        (f"{REMINDING}only_those_who_have_not_decided_are_reminded",),
    ),
    Mutation(
        "it reminds before it is time",
        NO_INVARIANT,
        PROGRESS,
        " or request.remind_at > context.now:",
        ":",
        (f"{REMINDING}it_reminds_as_often_as_it_says_and_no_more",),
    ),
    Mutation(
        "a worker escalates in business time when it likes",
        NO_INVARIANT,
        "shared/signet/core/approvals/seats/foreign_seats.py",
        "else find_least(term)",
        "else timedelta(0)",
        (
            "tests/unit/core/approvals/seats/test_foreign_seats.py"
            "::test_an_escalation_in_business_time_comes_no_sooner_than_any_calendar_has_it",
        ),
    ),
)

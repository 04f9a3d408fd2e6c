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
        "find_first_arrival(connection, context.tenant_id, context.row.id, node.id) or ",
        "",
        (f"{WAITING}an_edit_counts_from_the_first_arrival_or_anew[None]",),
    ),
    Mutation(
        "a timer ends before its moment",
        NO_INVARIANT,
        TIMER,
        " if due is not None and due <= context.now else None\n",
        " if due is not None else None\n",
        (f"{WAITING}it_waits_until_its_moment_and_not_longer",),
    ),
    Mutation(
        "nothing wakes what waits for a moment",
        NO_INVARIANT,
        TIMER,
        "        context.wake_at(due)\n",
        "",
        (f"{WAITING}it_waits_until_its_moment_and_not_longer",),
    ),
)

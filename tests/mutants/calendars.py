"""Faults in business calendars: what is open, which days count, where a term ends, what is imported."""

from tests.mutants.mutation import NO_INVARIANT, Mutation

CORE = "shared/signet/core/calendars"
TESTS = "tests/unit/core/calendars"
TIME = f"{TESTS}/test_working_time.py::test_"
DAYS = f"{TESTS}/test_working_days.py::test_"
HOLIDAYS = f"{TESTS}/test_ics_holidays.py::test_"
RULES = f"{TESTS}/test_yearly_rules.py::test_"

CALENDARS = (
    Mutation(
        "a holiday is worked",
        NO_INVARIANT,
        f"{CORE}/working_calendar.py",
        "{holiday.date: () for holiday in calendar.holidays}",
        "{}",
        (f"{TIME}working_time_of_the_office", f"{DAYS}working_days_of_the_office"),
    ),
    Mutation(
        "a half day is a whole one",
        NO_INVARIANT,
        f"{CORE}/business_calendar.py",
        "WorkingSpan(span.start, min(span.end, until)) for span in spans if span.start < until",
        "span for span in spans if span.start < until",
        (f"{TIME}working_time_of_the_office", f"{DAYS}working_days_of_the_office"),
    ),
    Mutation(
        "a half day is no working day",
        NO_INVARIANT,
        f"{CORE}/working_days.py",
        "        count -= bool(intervals)\n",
        "        count -= bool(intervals) and calendar.dates.get(day) is None\n",
        (f"{DAYS}working_days_of_the_office",),
    ),
    Mutation(
        "a worked day has the hours of its weekday",
        NO_INVARIANT,
        f"{CORE}/working_calendar.py",
        "    dates |= {worked.date: worked.hours for worked in calendar.worked_days}\n",
        "",
        (f"{TIME}working_time_of_the_office", f"{DAYS}working_days_of_the_office"),
    ),
    Mutation(
        "the clock keeps the offset of its last change",
        NO_INVARIANT,
        f"{CORE}/zone_clock.py",
        "        if next_offset != offset:\n",
        "        if False:\n",
        (
            f"{TIME}a_skipped_hour_counts_never_and_a_repeated_one_twice",
            f"{TIME}each_kind_of_clock_change_counts_as_the_clock_shows_it",
        ),
    ),
    Mutation(
        "the moment of closing is working time",
        NO_INVARIANT,
        f"{CORE}/working_time.py",
        "<= passed < s.end * _MINUTE",
        "<= passed <= s.end * _MINUTE",
        (f"{TIME}the_opening_is_working_time_and_the_closing_is_not",),
    ),
    Mutation(
        "time that ends at a closing ends at the next opening",
        NO_INVARIANT,
        f"{CORE}/working_time.py",
        "    while left > _NOTHING:\n        start, end = next(intervals)\n"
        "        reached = min(end, start + left)\n",
        "    while left >= _NOTHING and amount:\n        start, end = next(intervals)\n"
        "        reached = min(end, start + left)\n        if reached < end:\n            return reached\n",
        (f"{TIME}working_time_of_the_office",),
    ),
    Mutation(
        "the date of the start is a working day of its term",
        NO_INVARIANT,
        f"{CORE}/working_days.py",
        "    return _walk(calendar, day, count, _DAY)[-1].end\n",
        "    return _walk(calendar, day - _DAY, count, _DAY)[-1].end\n",
        (f"{DAYS}working_days_of_the_office",),
    ),
    Mutation(
        "midnight belongs to the date that it begins",
        NO_INVARIANT,
        f"{CORE}/working_days.py",
        "make_instant(moment) - _INSTANT)",
        "make_instant(moment))",
        (f"{DAYS}a_day_that_is_open_until_midnight_closes_then",),
    ),
    Mutation(
        "a calendar goes on after its years, without holidays",
        NO_INVARIANT,
        f"{CORE}/working_calendar.py",
        "        if not self.first <= day <= self.last:\n",
        "        if day.year > 2100:\n",
        (f"{TIME}nothing_is_computed_outside_of_the_years", f"{DAYS}nothing_is_counted_outside_of_the_years"),
    ),
    Mutation(
        "the end of an event is a holiday",
        NO_INVARIANT,
        f"{CORE}/ics_holidays.py",
        "        while day < end.date():\n",
        "        while day <= end.date():\n",
        (f"{HOLIDAYS}the_end_is_no_part_of_an_event",),
    ),
    Mutation(
        "a cancelled event is a holiday",
        NO_INVARIANT,
        f"{CORE}/ics_holidays.py",
        "return not event.is_cancelled and not",
        "return not",
        (f"{HOLIDAYS}what_is_cancelled_is_no_holiday",),
    ),
    Mutation(
        "a warning hides the error of an import",
        NO_INVARIANT,
        f"{CORE}/ics_holidays.py",
        "    told = sort_findings(findings)[:MAX_MISTAKES]\n",
        "    told = tuple(findings)[:MAX_MISTAKES]\n",
        (f"{HOLIDAYS}findings_are_bounded_and_warnings_hide_no_error",),
    ),
    Mutation(
        "rules cost what they like",
        NO_INVARIANT,
        f"{CORE}/ics_holidays.py",
        "        if steps > MAX_STEPS:\n",
        "        if False:\n",
        (f"{HOLIDAYS}what_rules_may_cost_is_bounded",),
    ),
    Mutation(
        "the fourth weekday is one of the year",
        NO_INVARIANT,
        f"{CORE}/yearly_rules.py",
        "    if rule.months:\n",
        "    if False:\n",
        (f"{RULES}a_rule_gives_its_dates", f"{RULES}a_rule_gives_what_dateutil_gives"),
    ),
    Mutation(
        "a deadline that stays is told as moved",
        NO_INVARIANT,
        f"{CORE}/change_report.py",
        "    if due == wait.due_at:\n        return None\n",
        "",
        (f"{TESTS}/test_change_report.py::test_a_calendar_that_is_the_same_moves_nothing",),
    ),
)

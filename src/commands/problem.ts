/** The command failed; the message says what to do next. */
export class CommandProblem extends Error {
  override name = 'CommandProblem';
}

/** The command was called wrongly. */
export class UsageProblem extends CommandProblem {
  override name = 'UsageProblem';
}

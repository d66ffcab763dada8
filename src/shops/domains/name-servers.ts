import dns from 'node:dns';

/** Timeout in milliseconds for all DNS queries of a check. */
const MAX_CHECK_TIME = 5_000;

/** The answer to a question; undefined: there was none, or an unintelligible one. */
export type Ask = <Answer>(
  question: (resolver: dns.promises.Resolver) => Promise<Answer[]>,
) => Promise<Answer[] | undefined>;

/**
 * Asks the name servers of this machine, which follow CNAME records. Not the system's resolver, which also knows the
 * names of this machine's own network.
 */
export async function withNameServers<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
  const resolver = new dns.promises.Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers(dns.getServers());
  const limit = setTimeout(() => resolver.cancel(), MAX_CHECK_TIME);
  try {
    return await work((question) => answersTo(question(resolver)));
  } finally {
    clearTimeout(limit);
  }
}

/** The name servers answered that there is no such record. */
const NO_RECORD = ['ENODATA', 'ENOTFOUND'];

async function answersTo<Answer>(question: Promise<Answer[]>): Promise<Answer[] | undefined> {
  try {
    return await question;
  } catch (error) {
    return NO_RECORD.includes((error as { code?: string }).code ?? '') ? [] : undefined;
  }
}

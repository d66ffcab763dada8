/** The fields that nodemailer adds to its errors. */
interface SmtpError {
  code?: string;
  responseCode?: number;
  response?: string;
  command?: string;
  message?: string;
}

/** Replies of RFC 5321 to an address that say that it does not exist or takes no mail at all. */
const UNKNOWN_ADDRESS = new Set([550, 551, 553]);

/**
 * What a refusal of the mail server means for good; undefined: it may take the email later. Only a refusal of the address
 * itself makes it a bounce: a refusal of the sender or of the content says nothing about the address. RFC 3463: 5.1 is
 * about the address, 5.2 about the mailbox, where 5.2.2 is a full one; 5.7 is a policy of the server.
 */
export function finalOutcome(error: unknown): 'bounced' | 'refused' | undefined {
  const { responseCode, response, command } = error as SmtpError;
  if (responseCode === undefined || responseCode < 500 || responseCode > 599) return undefined;
  if (command === 'DATA') return 'refused';
  if (command !== 'RCPT TO') return undefined;
  const [, subject, detail] = /^\d{3}[ -]5\.(\d{1,3})\.(\d{1,3})/.exec(response ?? '') ?? [];
  if (subject === undefined) return UNKNOWN_ADDRESS.has(responseCode) ? 'bounced' : 'refused';
  return subject === '1' || (subject === '2' && detail !== '2') ? 'bounced' : 'refused';
}

/** Whether the server has answered about this email, and not about who sends it: its next email may be taken. */
export function isAboutEmail(error: unknown): boolean {
  const { command } = error as SmtpError;
  return command === 'RCPT TO' || command === 'DATA';
}

/** Whether the server does not let us send at all: the user name or the password is wrong. */
export const isAuthRefusal = (error: unknown): boolean => relayProblemOf(error ?? {}) === 'auth';

/** Why a mail server takes no emails at all; the admin says for each what to do. */
export const RELAY_PROBLEMS = [
  'address',
  'unreachable',
  'timeout',
  'tls',
  'auth',
  'sender',
  'later',
  'other',
] as const;
export type RelayProblem = (typeof RELAY_PROBLEMS)[number];

export function relayProblemOf(error: unknown): RelayProblem {
  const { code = '', responseCode = 0, command } = error as SmtpError;
  if (code === 'EADDRESS') return 'address';
  if (code === 'EAUTH') return responseCode >= 400 && responseCode < 500 ? 'later' : 'auth';
  if (code === 'ETLS' || /CERT|LEAF_SIGNATURE|ERR_TLS|ERR_SSL|EPROTO/.test(code)) return 'tls';
  if (code === 'ETIMEDOUT' || code === 'EDEADLINE') return 'timeout';
  if (responseCode >= 400 && responseCode < 500) return 'later';
  if (command === 'MAIL FROM') return 'sender';
  if (code === 'ESOCKET' && /certificate|self.signed|SSL|TLS/i.test((error as SmtpError).message ?? ''))
    return 'tls';
  if (/^(?:EDNS|ECONNECTION|ESOCKET|ECONNREFUSED|ENOTFOUND|ENODATA|EAI_)/.test(code)) return 'unreachable';
  return 'other';
}

const MAX_ANSWER = 300;

/** The server's answer, as one bounded line: it is shown to people, who did not write it. */
export function serverAnswer(error: unknown): string {
  const { response, message } = error as SmtpError;
  return (response ?? message ?? String(error))
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, MAX_ANSWER);
}

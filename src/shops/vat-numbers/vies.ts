import type { VatCheck } from './buyer.ts';
import type { VatNumber } from './vat-numbers.ts';

/** What a register says of a number. */
export type RegisterAnswer = Pick<VatCheck, 'result' | 'consultationNumber'>;

/** Sends a POST request to an address that may be called; undefined or no status: there was no answer. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
) => Promise<{ statusCode: number | null; answer: string } | undefined>;

/** Bytes of an answer that are read. A whole one has about a thousand; one that is cut off can't be parsed. */
export const MAX_ANSWER_BYTES = 16_384;

const UNAVAILABLE: RegisterAnswer = { result: 'unavailable' };

/**
 * Asks VIES, the register of the European Commission, which passes the question on to the member state. With the
 * shop's own number as the requester, the answer has a consultation number: the proof that the shop has asked. The name
 * and the address in the answer are not read, because an order needs neither.
 */
export async function askVies(
  post: Post,
  baseUrl: string,
  { prefix, number }: VatNumber,
  requester: VatNumber | undefined,
): Promise<RegisterAnswer> {
  const ask = async (requester: VatNumber | undefined) => {
    const body = {
      countryCode: prefix,
      vatNumber: number.slice(prefix.length),
      ...(requester && {
        requesterMemberStateCode: requester.prefix,
        requesterNumber: requester.number.slice(requester.prefix.length),
      }),
    };
    const answer = await post(
      `${baseUrl.replace(/\/$/, '')}/check-vat-number`,
      { accept: 'application/json' },
      Buffer.from(JSON.stringify(body)),
    );
    return answer?.statusCode ? parseAnswer(answer.answer) : undefined;
  };
  const answer = await ask(requester);
  // A shop whose own number is wrong or new still learns whether the customer's exists, without a proof.
  const isRequesterUnknown = requester !== undefined && errorOf(answer) === 'INVALID_REQUESTER_INFO';
  return registerAnswer(isRequesterUnknown ? await ask(undefined) : answer);
}

/** The members of an answer that are read. Each may be missing or of another type. */
interface ViesAnswer {
  valid?: unknown;
  requestIdentifier?: unknown;
  userError?: unknown;
  errorWrappers?: unknown;
}

/** undefined: it is not a JSON object. */
function parseAnswer(text: string): ViesAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** The code of a failure, such as MS_UNAVAILABLE, MS_MAX_CONCURRENT_REQ or TIMEOUT; an answer has none, or VALID or INVALID. */
function errorOf(answer: ViesAnswer | undefined): string | undefined {
  const [wrapped] = Array.isArray(answer?.errorWrappers) ? (answer.errorWrappers as unknown[]) : [];
  const code = (wrapped as { error?: unknown } | null | undefined)?.error ?? answer?.userError;
  return typeof code === 'string' && !['', 'VALID', 'INVALID'].includes(code) ? code : undefined;
}

const CONSULTATION_NUMBER = /^[\w-]{1,64}$/;

function registerAnswer(answer: ViesAnswer | undefined): RegisterAnswer {
  const error = errorOf(answer);
  if (error === 'INVALID_INPUT') return { result: 'invalid' };
  if (error !== undefined || typeof answer?.valid !== 'boolean') return UNAVAILABLE;
  const { requestIdentifier: consultationNumber } = answer;
  return {
    result: answer.valid ? 'valid' : 'invalid',
    ...(typeof consultationNumber === 'string' &&
      CONSULTATION_NUMBER.test(consultationNumber) && { consultationNumber }),
  };
}

import {
  dayIn,
  creditAmount,
  MAX_PAYER_LENGTH,
  MAX_BANK_REFERENCE_LENGTH,
  MAX_PURPOSE_LENGTH,
  boundedLine,
  type BankCredit,
} from './credit.ts';
import { StatementProblem } from './statement-problem.ts';
import { xmlEvents } from './xml-reader.ts';

/** The values of an entry or of one of its transfers, by the path below it: `RmtInf/Ustrd`. */
type Values = Map<string, string[]>;

/**
 * The credits of a CAMT.053 statement (ISO 20022, all versions), one by one; undefined where there is none yet, so that the
 * caller can serve others in between. An entry may stand for several transfers, each of which is a credit.
 */
export function* camtCredits(text: string): Generator<BankCredit | undefined> {
  const path: string[] = [];
  let entry: Values = new Map();
  let transfer: Values | undefined;
  let transfers: Values[] = [];
  let characters = '';
  for (const event of xmlEvents(text)) {
    if (event.kind === 'text') {
      characters += event.text;
      continue;
    }
    if (event.kind === 'open') {
      path.push(event.name);
      characters = '';
      if (path.length === 1 && !isStatement(event)) throw new StatementProblem('notCamt');
      if (event.name === 'Ntry') {
        entry = new Map();
        transfers = [];
      } else if (event.name === 'TxDtls') transfer = new Map();
      else if (event.name === 'Amt' || event.name === 'InstdAmt') {
        add(transfer ?? entry, `${below(path)}@Ccy`, event.attributes.get('Ccy') ?? '');
      }
      yield undefined;
      continue;
    }
    if (characters.trim() !== '') add(transfer ?? entry, below(path), characters);
    characters = '';
    path.pop();
    if (event.name === 'TxDtls' && transfer) {
      transfers.push(transfer);
      transfer = undefined;
    } else if (event.name === 'Ntry') yield* entryCredits(entry, transfers);
    yield undefined;
  }
}

/** The namespace names the kind of message, or else its root element does. */
function isStatement({
  name,
  attributes,
}: {
  name: string;
  attributes: ReadonlyMap<string, string>;
}): boolean {
  const namespaces = [...attributes].filter(([key]) => key.startsWith('xmlns')).map(([, value]) => value);
  const messages = namespaces.filter((namespace) => namespace.includes(':xsd:'));
  return name === 'Document' && messages.every((namespace) => namespace.includes('camt.053'));
}

/** The path below the transfer, or else below the entry. */
function below(path: readonly string[]): string {
  const start = path.lastIndexOf('TxDtls');
  return path.slice((start === -1 ? path.lastIndexOf('Ntry') : start) + 1).join('/');
}

function add(values: Values, key: string, text: string): void {
  const known = values.get(key);
  if (known) known.push(text);
  else values.set(key, [text]);
}

const first = (values: Values | undefined, ...keys: readonly string[]) => {
  for (const key of keys) {
    const text = values?.get(key)?.[0]?.trim();
    if (text) return text;
  }
  return '';
};

function* entryCredits(entry: Values, transfers: readonly Values[]): Generator<BankCredit | undefined> {
  const isBooked = ['BOOK', ''].includes(first(entry, 'Sts/Cd', 'Sts'));
  const isReversal = ['true', '1'].includes(first(entry, 'RvslInd'));
  if (first(entry, 'CdtDbtInd') !== 'CRDT' || !isBooked || isReversal) return;
  const bookedOn = dayIn(first(entry, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm'));
  if (bookedOn === undefined) throw new StatementProblem('xml');
  const hasAmounts = transfers.every((one) => first(one, ...AMOUNTS) !== '');
  // A single transfer is the whole entry; several without amounts cannot be told apart.
  const parts = transfers.length > 1 && hasAmounts ? transfers : [undefined];
  for (const part of parts) {
    yield creditOf(entry, part, part ? [part] : transfers, bookedOn);
  }
}

const AMOUNTS = ['Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/InstdAmt/Amt'];

function creditOf(
  entry: Values,
  part: Values | undefined,
  described: readonly Values[],
  bookedOn: string,
): BankCredit | undefined {
  if (part && first(part, 'CdtDbtInd') === 'DBIT') return undefined;
  const amounts = part ?? entry;
  const currency = first(amounts, ...AMOUNTS.map((path) => `${path}@Ccy`)) || first(entry, 'Amt@Ccy');
  const amount = creditAmount(first(amounts, ...AMOUNTS), currency);
  if (amount === undefined || amount < 0) throw new StatementProblem('amount');
  if (amount === 0) return undefined;
  const [one] = described;
  const texts = described.flatMap((values) => [
    ...(values.get('RmtInf/Ustrd') ?? []),
    ...(values.get('RmtInf/Strd/CdtrRefInf/Ref') ?? []),
  ]);
  const endToEnd = first(one, 'Refs/EndToEndId');
  return {
    bookedOn,
    amount,
    currency,
    payer: boundedLine(
      first(
        one,
        'RltdPties/Dbtr/Nm',
        'RltdPties/Dbtr/Pty/Nm',
        'RltdPties/UltmtDbtr/Nm',
        'RltdPties/UltmtDbtr/Pty/Nm',
      ),
      MAX_PAYER_LENGTH,
    ),
    text: boundedLine(
      [...texts, ...(endToEnd === 'NOTPROVIDED' ? [] : [endToEnd])].join(' ') || first(entry, 'AddtlNtryInf'),
      MAX_PURPOSE_LENGTH,
    ),
    reference: boundedLine(
      first(one, 'Refs/AcctSvcrRef', 'Refs/TxId') || first(entry, 'AcctSvcrRef', 'NtryRef'),
      MAX_BANK_REFERENCE_LENGTH,
    ),
  };
}

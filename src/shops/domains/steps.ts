import { isIP } from 'node:net';
import type { DomainChallenge } from '../shop/domain-challenge.ts';
import { hostName } from '../shop/domain-policy.ts';
import type { NamedDomain } from './queries.ts';

export const DOMAIN_STEPS = ['proof', 'routing', 'certificate'] as const;
export const STEP_STATES = ['done', 'waiting', 'problem'] as const;

/** Why a step is in its state; the admin has a sentence for each. */
export const DOMAIN_STEP_REASONS = [
  'proved',
  'confirmed',
  'notNeeded',
  'notProved',
  'usedWithoutProof',
  'pointsHere',
  'pointsElsewhere',
  'pointsNowhere',
  'noAnswer',
  'notChecked',
  'addressUnknown',
  'valid',
  'expiresSoon',
  'expired',
  'otherName',
  'untrusted',
  'none',
  'afterProof',
  'afterRouting',
  'noTls',
] as const;

/** What to enter at the domain provider. */
export interface DnsRecord {
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA';
  name: string;
  value: string;
}

export interface DomainStep {
  step: (typeof DOMAIN_STEPS)[number];
  state: (typeof STEP_STATES)[number];
  reason: (typeof DOMAIN_STEP_REASONS)[number];
  /** All records of one of these are needed. Empty when there is nothing to enter. */
  choices: { records: DnsRecord[] }[];
}

/** What the steps depend on beside the domain. */
export interface StepContext {
  challenge: DomainChallenge;
  /** Others can call, so a domain needs a proof. */
  needsProof: boolean;
  service: { name: string | undefined; tlsPort: number | undefined; addresses: readonly string[] };
  now: Date;
}

const WEEK = 7 * 86_400_000;

/** From the claim to the certificate: what is done, and what to do next. */
export function domainSteps(domain: NamedDomain, context: StepContext): DomainStep[] {
  return [proofStep(domain, context), routingStep(domain, context), certificateStep(domain, context)];
}

export const isDone = (steps: readonly DomainStep[]): boolean => steps.every(({ state }) => state === 'done');

function proofStep(
  { isUsed, proof }: NamedDomain,
  { challenge, needsProof, service }: StepContext,
): DomainStep {
  const step = 'proof';
  if (isUsed && proof !== null) {
    return { step, state: 'done', reason: proof === 'command' ? 'confirmed' : 'proved', choices: [] };
  }
  if (isUsed && !needsProof) return { step, state: 'done', reason: 'notNeeded', choices: [] };
  const { name, text, label } = challenge;
  return {
    step,
    state: 'waiting',
    reason: isUsed ? 'usedWithoutProof' : 'notProved',
    choices: choicesOf(
      [{ type: 'TXT', name, value: text }],
      service.name === undefined ? [] : [{ type: 'CNAME', name, value: `${label}.${service.name}` }],
    ),
  };
}

function routingStep({ host, routing }: NamedDomain, { service }: StepContext): DomainStep {
  const step = 'routing';
  if (routing === 'here') return { step, state: 'done', reason: 'pointsHere', choices: [] };
  const choices = routingChoices(hostName(host), service);
  if (service.addresses.length === 0) return { step, state: 'waiting', reason: 'addressUnknown', choices };
  switch (routing) {
    case 'elsewhere':
      return { step, state: 'problem', reason: 'pointsElsewhere', choices };
    case 'nowhere':
      return { step, state: 'waiting', reason: 'pointsNowhere', choices };
    case 'unknown':
      return { step, state: 'waiting', reason: 'noAnswer', choices };
    case null:
      return { step, state: 'waiting', reason: 'notChecked', choices };
  }
}

/** A domain itself, such as shop.example, cannot have a CNAME record beside its others (RFC 1034, 3.6.2). */
function routingChoices(
  name: string,
  { name: target, addresses }: StepContext['service'],
): DomainStep['choices'] {
  const byAddress = addresses.map((value): DnsRecord => ({
    type: isIP(value) === 6 ? 'AAAA' : 'A',
    name,
    value,
  }));
  const byName: DnsRecord[] = target === undefined ? [] : [{ type: 'CNAME', name, value: target }];
  const isApex = name.split('.').length <= 2;
  return isApex && byAddress.length > 0 ? choicesOf(byAddress) : choicesOf(byName, byAddress);
}

const choicesOf = (...choices: DnsRecord[][]): DomainStep['choices'] =>
  choices.filter((records) => records.length > 0).map((records) => ({ records }));

function certificateStep(domain: NamedDomain, { service, now }: StepContext): DomainStep {
  const because = (state: DomainStep['state'], reason: DomainStep['reason']): DomainStep => ({
    step: 'certificate',
    state,
    reason,
    choices: [],
  });
  if (service.tlsPort === undefined) return because('waiting', 'noTls');
  if (!domain.isUsed || domain.proof === null) return because('waiting', 'afterProof');
  if (domain.routing !== 'here') return because('waiting', 'afterRouting');
  switch (domain.certificate) {
    case 'valid':
      return domain.validUntil !== null && domain.validUntil.getTime() - now.getTime() < WEEK
        ? because('problem', 'expiresSoon')
        : because('done', 'valid');
    case 'expired':
    case 'otherName':
    case 'untrusted':
      return because('problem', domain.certificate);
    case 'none':
      return because('waiting', 'none');
    case null:
      return because('waiting', 'notChecked');
  }
}

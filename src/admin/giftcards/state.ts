import type { Markup } from '../../http/html.ts';
import { chip, type ChipKind } from '../components/format.ts';
import type { ShopVisit } from '../visit.ts';
import type { GiftCardState } from '../../giftcards/card.ts';

/** The states of cards as merchants tell them apart: a card without a balance is not worth showing as valid. */
export const SHOWN_STATES = ['valid', 'usedUp', 'blocked', 'expired'] as const;
export type ShownState = (typeof SHOWN_STATES)[number];

export function shownState(state: GiftCardState, balance: number): ShownState {
  if (state !== 'active') return state;
  return balance === 0 ? 'usedUp' : 'valid';
}

const KINDS: Readonly<Record<ShownState, ChipKind>> = {
  valid: 'good',
  usedUp: 'neutral',
  blocked: 'bad',
  expired: 'warning',
};

export const giftCardChip = ({ messages }: ShopVisit, state: ShownState): Markup =>
  chip(messages.giftCards.states[state], KINDS[state]);

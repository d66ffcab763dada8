import { isDate } from '../../http/dates.ts';
import type { Window } from '../../orders/window.ts';
import type { ListState } from '../components/list-state.ts';
import { LIST_PARTS, PART_STATES, type OrderPart } from './states.ts';
import type { SearchFilter } from './queries.ts';

const DAY = 86_400_000;

/** A search covers all orders, unless a part of the list is named. */
export function orderPartOf({ filter }: Pick<ListState, 'filter'>): OrderPart {
  const named = LIST_PARTS.find((part) => part === filter('state'));
  return named ?? (filter('q') === '' ? LIST_PARTS[0] : 'all');
}

export function filterOf(state: Pick<ListState, 'filter'>): SearchFilter {
  const part = orderPartOf(state);
  const window = windowOf(state.filter('from'), state.filter('to'));
  return {
    states: PART_STATES[part],
    isNew: part === 'new',
    isReady: part === 'toShip',
    paymentWait: part === 'waitingForPayment' ? 'open' : part === 'paymentFailed' ? 'failed' : null,
    ...window,
  };
}

/** Both days are included; an invalid day is ignored. */
function windowOf(from: string, to: string): Window {
  const first = dayOf(from);
  const last = dayOf(to);
  return {
    createdAfter: first === undefined ? null : new Date(first - 1),
    createdBefore: last === undefined ? null : new Date(last + DAY),
  };
}

function dayOf(text: string): number | undefined {
  return isDate(text) ? Date.parse(text) : undefined;
}

/** The position of a page of the oldest-first list within the newest-first list. */
export function fromTheEnd({ offset, limit }: Pick<ListState, 'offset' | 'limit'>, results: number) {
  const end = Math.max(0, results - offset);
  const start = Math.max(0, end - limit);
  return { offset: start, limit: end - start };
}

import type { Markup } from '../../http/html.ts';
import type { ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import type { DeclaredForm } from '../components/declared-form.ts';
import type { AdminMessages } from '../messages.ts';
import type { Draft, FormOptions } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { OrderView } from './order-view.ts';
import type { FormRequest, Notice } from '../../http/page-kit.ts';

/** A merchant's action on an order: a small form that opens on its page. */
export interface OrderAction {
  /** In the address: `/orders/ID/ship`. */
  name: ActionName;
  /** Whether it is offered. The operation decides, so this need not be exact. */
  isPossible: (view: OrderView) => boolean;
  /** The declared fields, whose limits and labels apply. */
  form?: DeclaredForm;
  /** Instead of `form`, where it is declared in several parts. */
  options?: FormOptions;
  fields: (view: OrderView, draft: Draft | undefined) => Markup;
  /** Calls the operation. Its refusal is shown on the form. */
  save: (visit: ShopVisit, form: FormRequest, order: ManagedOrderAnswer) => Promise<SavedAction>;
  kind?: 'danger';
}

export interface SavedAction extends Notice {
  /** The query of the order's page afterwards: the document shown. */
  query?: Readonly<Record<string, string>>;
}

export type ActionName = Exclude<keyof AdminMessages['orders']['actions'], 'language'>;

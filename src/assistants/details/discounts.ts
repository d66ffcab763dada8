import { shownLines } from '../../pricing/shown-lines.ts';
import type { CartContext, CartPatch, CartRow, PricedCart } from '../../carts/cart.ts';
import { applyCoupon, removeCoupon } from '../../carts/changes.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Content } from '../../pricing/content.ts';
import { sum } from '../../pricing/shares.ts';
import type { Extension } from '../capabilities.ts';
import type { AssistantContext } from '../context.ts';
import type { Message } from '../messages.ts';
import type { WantedCodes } from './codes.ts';

export const DISCOUNT: Extension = 'dev.ucp.shopping.discount';

/** Replaces the coupon of the cart, which must be prefetched. */
export function applyCodes(cart: CartRow, { codeKey }: WantedCodes, context: CartContext): CartPatch {
  if (codeKey === null) return cart.couponLineItemId === null ? {} : removeCoupon(cart);
  return codeKey === cart.couponCodeKey ? {} : applyCoupon(cart, codeKey, context);
}

interface Allocation {
  path: string;
  amount: number;
}

interface AppliedDiscount {
  code?: string;
  title: string;
  amount: number;
  automatic?: true;
  method?: 'across';
  priority: number;
  allocations?: Allocation[];
}

/** The discounts of a cart: codes as they were sent, and what is taken off, the shop's own discount too. */
export function shownDiscounts(
  { cart, priced: { content } }: PricedCart,
  { locale }: Pick<AssistantContext, 'locale'>,
): { codes: string[]; applied: AppliedDiscount[] } {
  const messages = messagesIn(locale).storefront.cart;
  const codes = cart.assistantNotes?.codes ?? [];
  const { coupon, basketDiscount } = content;
  const across = (amount: number, key: 'discountShare' | 'couponShare') => {
    const allocations = allocationsOf(content, key);
    const isComplete = amount > 0 && sum(allocations.map((one) => one.amount)) === amount;
    return { amount, ...(isComplete && { method: 'across' as const, allocations }) };
  };
  const own: AppliedDiscount[] =
    basketDiscount < 0
      ? [
          {
            title: messages.discount,
            automatic: true,
            priority: 1,
            ...across(-basketDiscount, 'discountShare'),
          },
        ]
      : [];
  const isApplied = coupon !== null && coupon.problems.length === 0;
  const code = codes.find((one) => one.refusal === undefined)?.code ?? cart.couponCodeKey ?? undefined;
  const byCode: AppliedDiscount[] = isApplied
    ? [
        {
          ...(code !== undefined && { code }),
          title: code === undefined ? messages.coupon : messages.couponWithCode({ code }),
          priority: 2,
          ...across(Math.max(0, -coupon.amount), 'couponShare'),
        },
      ]
    : [];
  return { codes: codes.map((one) => one.code), applied: [...own, ...byCode] };
}

function allocationsOf(content: Content, key: 'discountShare' | 'couponShare'): Allocation[] {
  return shownLines(content).flatMap((line, index) =>
    line[key] > 0 ? [{ path: `$.line_items[${index}]`, amount: line[key] }] : [],
  );
}

/** Why a code takes nothing off. */
export function discountMessages(
  { cart, priced: { content } }: PricedCart,
  { locale }: Pick<AssistantContext, 'locale'>,
  now: Date,
): Message[] {
  const messages = messagesIn(locale).storefront.cart;
  const { coupon } = content;
  return (cart.assistantNotes?.codes ?? []).flatMap(({ code, refusal }, index): Message[] => {
    const warning = (why: string, content: string): Message[] => [
      { type: 'warning', code: why, path: `$.discounts.codes[${index}]`, content: `${code}: ${content}` },
    ];
    if (refusal === 'unknown') return warning('discount_code_invalid', messages.unknownCode);
    if (refusal === 'second') return warning('discount_code_combination_disallowed', messages.oneCoupon);
    // The shop may have deleted it.
    if (!coupon) return warning('discount_code_invalid', messages.unknownCode);
    if (coupon.problems.length === 0) return [];
    const texts = coupon.problems.map((problem) => messages.problems[problem]);
    return warning(refusalCode(cart, coupon.problems, now), `${messages.inactiveCoupon} ${texts.join(' ')}`);
  });
}

function refusalCode(
  { coupon }: CartRow,
  problems: readonly string[],
  now: Date,
): 'discount_code_expired' | 'discount_code_invalid' | 'discount_code_user_ineligible' {
  if (coupon?.validTo && new Date(coupon.validTo) <= now) return 'discount_code_expired';
  const isUnusable = ['CouponIsInvalidated', 'ValidCouponCountReached', 'CouponNotEffective'].some(
    (problem) => problems.includes(problem),
  );
  return isUnusable ? 'discount_code_invalid' : 'discount_code_user_ineligible';
}

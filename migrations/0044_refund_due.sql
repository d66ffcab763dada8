-- What is refunded for a return, in minor units of the order: for its items once they are back, and for items that were
-- withdrawn before they were sent. The first is frozen when the items arrive, so a later return or setting does not
-- change an amount that was refunded. null: not known, as in returns from before; it is computed from the order.
alter table order_return add column due_amount bigint;
alter table order_return add column unsent_due_amount bigint;

-- The part of a refund that nothing justifies but the merchant's goodwill, and the reason.
alter table order_payment add column goodwill_amount bigint not null default 0;
alter table order_payment add column goodwill_reason text;

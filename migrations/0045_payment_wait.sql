-- Why an order that is paid in advance is not ready to ship: 'open', its payment has not arrived; 'failed', its payment
-- through a provider was refused or given up. null: it is shipped first, or its money is reserved. An order that is paid
-- or sent in another way keeps the value, so the condition of the index below decides. The constraint is not validated,
-- because that would read the whole table while requests wait; the column is new, and so has no other values.
alter table customer_order add column payment_wait text;

alter table customer_order add constraint customer_order_payment_wait
  check (payment_wait in ('open', 'failed')) not valid;

-- The orders that are open and unpaid now: those that are released unless they are paid, and those that are paid in
-- advance without an end. They are found through the sums of days and the index of states, so few orders are read. An
-- order that a process of the version before places during an upgrade counts as ready.
update customer_order set payment_wait = 'open'
where release_at is not null and cancelled_at is null and editing_app_id is null and paid_amount = 0 and states < 16
  and grand_total > 0;

update customer_order set payment_wait = 'open'
from order_day, payment_method
where order_day.orders > 0 and order_day.states & 30914 = 0
  and customer_order.shop_id = order_day.shop_id and customer_order.currency = order_day.currency
  and customer_order.states = order_day.states
  and customer_order.created_at >= order_day.day::timestamp at time zone 'UTC'
  and customer_order.created_at < (order_day.day + 1)::timestamp at time zone 'UTC'
  and customer_order.payment_wait is null and customer_order.grand_total > customer_order.paid_amount
  and payment_method.shop_id = customer_order.shop_id and payment_method.key = 'advance'
  and upper(customer_order.content #>> '{payment,method,paymentMethodId}') = upper(payment_method.payment_method_id::text);

-- The orders of a shop that wait for their payment. An order that is rejected, sent, delivered, paid, returned, closed or
-- archived (30914) leaves the index by itself. With currency and states, so that the sums of days can be corrected by
-- them from the index alone.
create index customer_order_waiting on customer_order (shop_id, payment_wait, created_at, order_id)
  include (currency, states)
  where payment_wait is not null and grand_total > paid_amount and states & 30914 = 0;

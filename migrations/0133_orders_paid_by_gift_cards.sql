-- Gift cards pay for orders.

-- What cards have paid when the order was placed, in minor units. It is a part of paid_amount.
alter table customer_order add column gift_card_amount bigint not null default 0;

-- The card that a payment came from, or a refund went to; null: it was money.
alter table order_payment add column gift_card_id uuid;

alter table order_payment add constraint order_payment_gift_card foreign key (shop_id, gift_card_id)
  references gift_card (shop_id, gift_card_id);

-- The orders that may still be released: nothing was paid but by cards, whose part goes back to them. In states, 1024 is
-- partly paid, which such a part makes an order.
create index customer_order_release_unpaid on customer_order (release_at, shop_id, order_id)
  where release_at is not null and cancelled_at is null and editing_app_id is null
    and paid_amount = gift_card_amount and states & ~1024 < 16;

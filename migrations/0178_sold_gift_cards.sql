-- Gift cards that the shop has sold. A card is issued when its order is paid, and gets its code when it is sent.
create table sold_gift_card (
  shop_id text not null,
  gift_card_id uuid not null,
  order_id uuid not null,
  line_item_id uuid not null,
  -- What it was sold for, in minor units of the card's currency.
  value bigint not null,
  -- When it is sent to its recipient, who is named in the line of the order; null: nothing is to be sent.
  send_at timestamptz,
  -- When it was sent last; null: not yet.
  sent_at timestamptz,
  -- When it was taken back, because the money was paid back.
  revoked_at timestamptz,
  constraint sold_gift_card_pkey primary key (shop_id, gift_card_id),
  constraint sold_gift_card_value check (value > 0)
);

create index sold_gift_card_of_order on sold_gift_card (shop_id, order_id);

-- The cards that are due, of all shops.
create index sold_gift_card_due on sold_gift_card (send_at, shop_id, gift_card_id) where send_at is not null;

alter table sold_gift_card add constraint sold_gift_card_card
  foreign key (shop_id, gift_card_id) references gift_card (shop_id, gift_card_id) on delete cascade;

alter table sold_gift_card add constraint sold_gift_card_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

-- What is left on a card that was taken back leaves it as an entry of its own.
alter table gift_card_entry drop constraint gift_card_entry_kind;

alter table gift_card_entry add constraint gift_card_entry_kind
  check (kind in ('issue', 'redeem', 'refund', 'correct', 'expire', 'revoke'));

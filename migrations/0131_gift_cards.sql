-- Gift cards and store credit (src/giftcards/): a means of payment. Each card has a ledger whose rows are never changed.
create table gift_card (
  shop_id text not null,
  gift_card_id uuid not null,
  -- SHA-256 of the code, which is shown once.
  code_hash bytea not null,
  -- The last four characters of the code, by which people tell their cards apart.
  last_characters text not null,
  currency text not null,
  -- The sum of its entries, in minor units. Changed under the lock of this row only.
  balance bigint not null default 0,
  created_at timestamptz not null,
  -- The last day on which it can be redeemed, UTC; null: it does not expire.
  expires_on date,
  -- Since when it cannot be redeemed; null: it can.
  blocked_at timestamptz,
  -- Whose store credit it is; null: it belongs to the holder of the code.
  customer_id uuid,
  -- For the people of the shop.
  note text,
  constraint gift_card_pkey primary key (shop_id, gift_card_id),
  constraint gift_card_code unique (shop_id, code_hash),
  constraint gift_card_balance check (balance between 0 and 10000000000000),
  constraint gift_card_code_length check (length(code_hash) = 32 and length(last_characters) = 4),
  constraint gift_card_note check (length(note) between 1 and 500)
);

create index gift_card_customer on gift_card (shop_id, customer_id) where customer_id is not null;

-- The cards whose balance ends some day, of all shops.
create index gift_card_expiry on gift_card (expires_on, shop_id, gift_card_id)
  where balance > 0 and expires_on is not null;

create table gift_card_entry (
  shop_id text not null,
  gift_card_id uuid not null,
  entry_id uuid not null,
  at timestamptz not null,
  kind text not null,
  -- Minor units of the card's currency; negative: it leaves the card.
  amount bigint not null,
  -- The order that was paid or refunded.
  order_id uuid,
  -- The app that asked for it; null: the shop itself, or its customer.
  app_id uuid,
  reason text,
  constraint gift_card_entry_pkey primary key (shop_id, gift_card_id, entry_id),
  constraint gift_card_entry_kind check (kind in ('issue', 'redeem', 'refund', 'correct', 'expire')),
  constraint gift_card_entry_amount check (
    case when kind in ('issue', 'refund') then amount > 0 when kind = 'correct' then amount <> 0 else amount < 0 end),
  constraint gift_card_entry_order check (order_id is not null or kind not in ('redeem', 'refund')),
  constraint gift_card_entry_reason check (length(reason) between 1 and 500)
);

-- What was owed on a day is the sum of the entries until then.
create index gift_card_entry_time on gift_card_entry (shop_id, at);

alter table gift_card add constraint gift_card_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- An erasure takes the customer off the card before it deletes the customer.
alter table gift_card add constraint gift_card_holder foreign key (shop_id, customer_id)
  references customer (shop_id, customer_id);

alter table gift_card_entry add constraint gift_card_entry_card foreign key (shop_id, gift_card_id)
  references gift_card (shop_id, gift_card_id) on delete cascade;

alter table gift_card_entry add constraint gift_card_entry_of_order foreign key (shop_id, order_id)
  references customer_order (shop_id, order_id);

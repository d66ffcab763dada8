-- The accountant's files read the payments of a period.
create index order_payment_at on order_payment (shop_id, at, payment_id);

-- Money that came in on the shop's bank account, from statements that the merchant has sent. It is matched to orders, and
-- recorded as their payment when the merchant says so. The rows stay: a statement may be sent again, and names the same entries.
create table bank_entry (
  shop_id text not null,
  entry_id uuid not null,
  -- SHA-256 in hexadecimal of what the bank says of it: the same entry of two statements is one.
  key text not null,
  booked_on date not null,
  -- Minor units of the currency.
  amount bigint not null,
  currency text not null,
  -- The payer, and the text of the transfer; null: erased with the customer.
  payer text,
  text text,
  -- What the bank calls it.
  reference text,
  state text not null default 'open',
  -- The order that it has paid.
  order_id uuid,
  created_at timestamptz not null,
  constraint bank_entry_pkey primary key (shop_id, entry_id),
  constraint bank_entry_key unique (shop_id, key),
  constraint bank_entry_key_length check (length(key) = 64),
  constraint bank_entry_amount check (amount > 0),
  constraint bank_entry_state check (state in ('open', 'recorded', 'ignored')),
  constraint bank_entry_payer check (length(payer) <= 200),
  constraint bank_entry_text check (length(text) <= 1000),
  constraint bank_entry_reference check (length(reference) <= 200)
);

create index bank_entry_open on bank_entry (shop_id, booked_on, entry_id) where state = 'open';

-- An order that is erased finds what was paid for it.
create index bank_entry_order on bank_entry (shop_id, order_id) where order_id is not null;

alter table bank_entry add constraint bank_entry_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

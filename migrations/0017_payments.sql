-- Payments through a provider, such as Stripe (src/orders/payments/). The order holds the truth; an attempt says what is
-- known of one payment at the provider, and when to ask the provider again.

-- How a payment method that a provider of ours handles behaves.
alter table payment_method add column provider_label text;
alter table payment_method add column capture text not null default 'automatic';
alter table payment_method add column release_unpaid_after_minutes integer;

alter table payment_method add constraint payment_method_capture check (capture in ('automatic', 'manual'));

alter table payment_method add constraint payment_method_release_minutes check (
  release_unpaid_after_minutes between 5 and 10080
  and (release_unpaid_after_minutes is null or release_unpaid_after_days is null));

-- What the merchant has set for a method, keys of the provider above all: JSON, sealed with the key of the installation.
create table payment_account (
  shop_id text not null,
  payment_method_id uuid not null,
  fields_sealed bytea not null,
  updated_at timestamptz not null,
  constraint payment_account_pkey primary key (shop_id, payment_method_id)
);

alter table payment_account add constraint payment_account_method foreign key (shop_id, payment_method_id)
  references payment_method (shop_id, payment_method_id) on delete cascade;

create table payment_attempt (
  shop_id text not null,
  -- Also the idempotency key at the provider, and the id of the order_payment that it becomes: none is recorded twice.
  attempt_id uuid not null,
  order_id uuid not null,
  -- As the settings named them when it began. The method may be gone since.
  provider text not null,
  payment_method_id uuid not null,
  -- Minor units.
  amount bigint not null,
  currency text not null,
  -- starting: the provider may know of it, but nobody has been sent there. The others are those of the provider.
  state text not null,
  -- What came in; 0 unless it is paid.
  captured bigint not null default 0,
  -- What the provider calls it, and where the shopper pays; null while it starts.
  reference text,
  redirect_to text,
  -- What the next check does beside asking: the order was cancelled, or the merchant wants the money now.
  wish text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When to ask the provider again. Whoever asks moves it to the end of its lease. null: there is nothing to ask.
  check_at timestamptz,
  -- When the provider was last asked, and how often without news: checks become rarer.
  checked_at timestamptz,
  checks integer not null default 0,
  -- Why the last call failed, in words of the provider.
  error text,
  constraint payment_attempt_pkey primary key (shop_id, attempt_id),
  constraint payment_attempt_state check (
    state in ('starting', 'open', 'processing', 'authorized', 'paid', 'failed', 'cancelled')),
  constraint payment_attempt_wish check (wish in ('cancel', 'capture')),
  constraint payment_attempt_amount check (amount > 0 and captured >= 0),
  constraint payment_attempt_reference check (length(reference) between 1 and 200),
  constraint payment_attempt_redirect check (length(redirect_to) between 1 and 4000),
  constraint payment_attempt_error check (length(error) <= 500)
);

alter table payment_attempt add constraint payment_attempt_order foreign key (shop_id, order_id)
  references customer_order (shop_id, order_id) on delete cascade;

-- An order has one attempt at a time that can still bring money.
create unique index payment_attempt_live on payment_attempt (shop_id, order_id)
  where state in ('starting', 'open', 'processing', 'authorized');

create index payment_attempt_of_order on payment_attempt (shop_id, order_id, created_at);

-- Webhooks name attempts by it.
create unique index payment_attempt_named on payment_attempt (shop_id, payment_method_id, reference)
  where reference is not null;

-- The worker reads what is due over all shops, and lets the shops take turns.
create index payment_attempt_due on payment_attempt (shop_id, check_at) where check_at is not null;

-- Refunds that go through a provider. The default is what was recorded by hand, as all payments before this migration.
alter table order_payment add column state text not null default 'done';
-- The attempt whose money goes back; null: by hand.
alter table order_payment add column attempt_id uuid;
alter table order_payment add column check_at timestamptz;
alter table order_payment add column checks integer not null default 0;
alter table order_payment add column error text;

alter table order_payment add constraint order_payment_state check (
  state in ('requested', 'done', 'failed') and (state = 'done' or kind = 'refund'));

alter table order_payment add constraint order_payment_error check (length(error) <= 500);

create index order_payment_due on order_payment (shop_id, check_at) where check_at is not null;

-- The other side of the provider `demo`: what a bank would know of its payments.
create table demo_payment (
  shop_id text not null,
  -- That of the attempt.
  payment_id uuid not null,
  amount bigint not null,
  currency text not null,
  state text not null,
  -- When a payment that was made "later" counts as paid; null: not on its way.
  paid_at timestamptz,
  is_captured_by_hand boolean not null,
  return_url text not null,
  order_number text not null,
  -- Amounts by the id of the refund.
  refunds jsonb not null default '{}',
  created_at timestamptz not null,
  constraint demo_payment_pkey primary key (shop_id, payment_id),
  constraint demo_payment_state check (
    state in ('open', 'processing', 'authorized', 'paid', 'failed', 'cancelled')),
  constraint demo_payment_amount check (amount > 0)
);

alter table demo_payment add constraint demo_payment_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

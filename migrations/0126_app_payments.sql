-- Payments that an app handles (src/orders/payments/app-provider.ts): for their orders the app is one more provider.

-- The host of the app and the name of its method, such as pay.example/later. null: no app handles the payment.
alter table payment_method add column app_method text;
alter table payment_method add constraint payment_method_app_method check (length(app_method) between 1 and 300);

-- What an app has said about the payments that were begun at it. The amount is that of the attempt.
create table app_payment (
  shop_id text not null,
  -- That of the attempt.
  payment_id uuid not null,
  order_id uuid not null,
  -- The app may be gone since: nobody else may report this payment.
  app_id uuid not null,
  method text not null,
  -- Scheme and host of the service, which the tokens of calls name.
  issuer text not null,
  state text not null,
  -- Minor units; 0 unless it is paid.
  captured bigint not null default 0,
  -- For the customer, by language, where the app leads to no page of its own.
  instructions jsonb,
  -- Refunds that the app has reported.
  refunds jsonb not null default '[]',
  constraint app_payment_pkey primary key (shop_id, payment_id),
  constraint app_payment_state check (
    state in ('open', 'processing', 'authorized', 'paid', 'failed', 'cancelled')),
  constraint app_payment_captured check (captured >= 0 and (captured > 0) = (state = 'paid')),
  constraint app_payment_instructions check (length(instructions::text) <= 50000),
  constraint app_payment_refunds check (length(refunds::text) <= 50000)
);

alter table app_payment add constraint app_payment_attempt foreign key (shop_id, payment_id)
  references payment_attempt (shop_id, attempt_id) on delete cascade;

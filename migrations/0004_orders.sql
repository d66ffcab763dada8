-- What happens to an order after it was placed: its changes, payments, deliveries, returns and documents; what lists
-- and sales are counted from; and who has changed what.

-- Moves with every change: texts in memory are validated by it.
alter table customer_order add column version bigint not null default 1;
-- The app that placed it; null: the shop itself.
alter table customer_order add column app_id uuid;
-- An order is edited by one app at a time; others get 409 meanwhile.
alter table customer_order add column editing_app_id uuid;
alter table customer_order add column editing_since timestamptz;
-- Its goods and its coupon use were given back.
alter table customer_order add column cancelled_at timestamptz;
-- Minor units of its currency: what came in, and what of it went back.
alter table customer_order add column paid_amount bigint not null default 0;
alter table customer_order add column refunded_amount bigint not null default 0;
-- The customer was erased: billing and shipping address hold nothing of a person any more.
alter table customer_order add column erased_at timestamptz;
-- Exact, for sales: the sum over the tax rates of what is left without the tax, in minor units and not rounded.
alter table customer_order add column net_revenue numeric not null default 0;
-- A bit for each state that is set, in the order of the columns: 1 viewed, 2 rejected, 4 in process, ... 16384 archived.
alter table customer_order add column states integer not null generated always as (
  (viewed_at is not null)::int + (rejected_at is not null)::int * 2 + (in_process_at is not null)::int * 4
  + (pending_at is not null)::int * 8 + (ready_for_dispatch_at is not null)::int * 16
  + (partially_dispatched_at is not null)::int * 32 + (dispatched_at is not null)::int * 64
  + (delivered_at is not null)::int * 128 + (partially_invoiced_at is not null)::int * 256
  + (invoiced_at is not null)::int * 512 + (partially_paid_at is not null)::int * 1024
  + (paid_at is not null)::int * 2048 + (returned_at is not null)::int * 4096
  + (closed_at is not null)::int * 8192 + (archived_at is not null)::int * 16384
) stored;
alter table customer_order add constraint customer_order_paid
  check (paid_amount >= 0 and refunded_amount between 0 and paid_amount);

-- Orders per day (UTC), currency and set of states, with what they are worth: lists take their counts and their place from
-- it, sales their sums. Every statement that writes an order keeps it up to date.
create table order_day (
  shop_id text not null,
  day date not null,
  currency text not null,
  states integer not null,
  orders bigint not null,
  gross bigint not null,
  net numeric not null,
  constraint order_day_pkey primary key (shop_id, day, currency, states)
) with (fillfactor = 70);

-- What of which product is in an order, for the lists and the sales of one product. One row per line.
create table order_line (
  shop_id text not null,
  order_id uuid not null,
  line_item_id uuid not null,
  product_id uuid not null,
  created_at timestamptz not null,
  currency text not null,
  quantity numeric not null,
  -- Minor units after all discounts, not rounded.
  gross numeric not null,
  net numeric not null,
  constraint order_line_pkey primary key (shop_id, order_id, line_item_id)
);

create index order_line_product on order_line (shop_id, product_id, created_at, order_id);

-- Who did what to an order, and when. Rows are added and never changed; they hold nothing of a person.
create table order_event (
  shop_id text not null,
  order_id uuid not null,
  event_id uuid not null,
  at timestamptz not null,
  -- null: the shop itself
  app_id uuid,
  kind text not null,
  details jsonb not null,
  constraint order_event_pkey primary key (shop_id, order_id, event_id)
);

create table order_payment (
  shop_id text not null,
  order_id uuid not null,
  payment_id uuid not null,
  at timestamptz not null,
  kind text not null,
  amount bigint not null,
  -- What the provider calls it.
  reference text,
  note text,
  return_id uuid,
  constraint order_payment_pkey primary key (shop_id, order_id, payment_id),
  constraint order_payment_kind check (kind in ('payment', 'refund')),
  constraint order_payment_amount check (amount > 0)
);

create table order_shipment (
  shop_id text not null,
  order_id uuid not null,
  shipment_id uuid not null,
  at timestamptz not null,
  -- [{"lineItemId": "...", "quantity": "2"}]
  lines jsonb not null,
  carrier text,
  tracking_code text,
  constraint order_shipment_pkey primary key (shop_id, order_id, shipment_id)
);

create table order_return (
  shop_id text not null,
  order_id uuid not null,
  return_id uuid not null,
  at timestamptz not null,
  -- As in order_shipment.
  lines jsonb not null,
  -- The goods went back into the stock.
  restocked boolean not null,
  note text,
  constraint order_return_pkey primary key (shop_id, order_id, return_id)
);

-- Finalised invoices and credit notes: never changed again. The file is written right after, once.
create table order_document (
  shop_id text not null,
  document_id uuid not null,
  order_id uuid not null,
  kind text not null,
  -- Without gaps per shop and kind.
  number bigint not null,
  issued_at timestamptz not null,
  created_at timestamptz not null,
  address json not null,
  -- The seller, the notes, the invoice that is credited: all that is printed and not in the content.
  terms jsonb not null,
  -- Lines and totals as in an order; those of a credit note are positive as well.
  content jsonb not null,
  pdf bytea,
  constraint order_document_pkey primary key (shop_id, document_id),
  constraint order_document_number unique (shop_id, kind, number),
  constraint order_document_kind check (kind in ('Invoice', 'CreditNote'))
);

create index order_document_order on order_document (shop_id, order_id, created_at);

-- Writes that used a right which the merchant has given.
create table audit_entry (
  shop_id text not null,
  entry_id uuid not null,
  at timestamptz not null,
  -- null: the command line
  app_id uuid,
  app_name text,
  -- `PATCH`, `/rs/shops/:shopId/products/:productId`, {"productId": "..."}; never what was sent.
  method text not null,
  route text not null,
  object jsonb not null,
  constraint audit_entry_pkey primary key (shop_id, entry_id)
);

-- Seller and notes on documents, and the words of mails.
alter table shop add column invoicing jsonb not null default '{}';
alter table shop add column mail_texts jsonb not null default '{}';

create index customer_order_states on customer_order (shop_id, currency, states, created_at, order_id);

create index customer_order_updated on customer_order (shop_id, updated_at, order_id)
  include (created_at, currency, states) where updated_at is not null;

create index customer_order_touched on customer_order (shop_id, (coalesce(updated_at, created_at)), order_id);

alter table order_day add constraint order_day_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table order_line add constraint order_line_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table order_event add constraint order_event_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table order_payment add constraint order_payment_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table order_shipment add constraint order_shipment_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table order_return add constraint order_return_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table order_document add constraint order_document_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

alter table audit_entry add constraint audit_entry_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Orders that are there already get what new ones are written with. Their basket discount is spread by value, and a
-- coupon counts as the amount that it took off: its code was not kept.
update customer_order set content = content || jsonb_build_object(
  'offers', '[]'::jsonb,
  'serviceTaxClass', coalesce(content #> '{shipping,taxes,0,taxClass}', content #> '{payment,taxes,0,taxClass}',
    content #> '{lines,0,taxClass}'),
  'coupon', case when content -> 'coupon' = 'null' then 'null'::jsonb else content -> 'coupon' || jsonb_build_object(
    'codeKey', null, 'terms', jsonb_build_object('kind', 'FIX', 'amount', -(content #>> '{coupon,amount}')::bigint,
      'waivesShipping', false, 'minimumOrderValue', null, 'productIds', null)) end,
  'lines', (
    select coalesce(jsonb_agg(line || jsonb_build_object(
      'masterId', null,
      'discountShare', round((line ->> 'amount')::numeric * -(content ->> 'basketDiscount')::numeric
        / greatest((content ->> 'subTotal')::numeric, 1)),
      'unitDeposit', round((line ->> 'deposit')::numeric / (line ->> 'quantity')::numeric),
      'unitEcoParticipation', round((line ->> 'ecoParticipation')::numeric / (line ->> 'quantity')::numeric)
    ) order by place), '[]')
    from jsonb_array_elements(content -> 'lines') with ordinality as lines (line, place)
  ));

update customer_order set net_revenue = (
  select coalesce(sum((tax ->> 'amount')::numeric
    / case when content ->> 'taxType' = 'GROSS' then 1 + (tax ->> 'rate')::numeric / 10000 else 1 end), 0)
  from jsonb_array_elements(content -> 'taxes') as taxes (tax));

insert into order_line (shop_id, order_id, line_item_id, product_id, created_at, currency, quantity, gross, net)
select shop_id, order_id, (line ->> 'lineItemId')::uuid, (line ->> 'productId')::uuid, created_at, currency,
  (line ->> 'quantity')::numeric,
  sold.amount * case when content ->> 'taxType' = 'NET' then sold.with_tax else 1 end,
  sold.amount / case when content ->> 'taxType' = 'GROSS' then sold.with_tax else 1 end
from customer_order
cross join lateral jsonb_array_elements(content -> 'lines') as lines (line)
cross join lateral (
  select (line ->> 'amount')::numeric - (line ->> 'discountShare')::numeric - (line ->> 'couponShare')::numeric
      as amount,
    1 + (line #>> '{taxClass,rate}')::numeric / 10000 as with_tax
) as sold;

insert into order_day (shop_id, day, currency, states, orders, gross, net)
select shop_id, (created_at at time zone 'UTC')::date, currency, states, count(*), sum(grand_total), sum(net_revenue)
from customer_order group by 1, 2, 3, 4;

insert into counter (shop_id, name, value) select shop_id, 'Invoice', 1000 from shop;

insert into counter (shop_id, name, value) select shop_id, 'CreditNote', 1000 from shop;

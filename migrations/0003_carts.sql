-- Coupons, carts, and the orders that carts become.
-- A cart holds facts: what was chosen. Its prices and totals are computed on the way out. An order holds what the
-- cart came to, frozen. A cart that was ordered is deleted; the order remembers its id.

-- Goods of this class are not shipped: downloads, tickets.
alter table tax_class add column digital boolean not null default false;

create table coupon_campaign (
  shop_id text not null,
  campaign_id uuid not null,
  identifier text not null,
  name jsonb not null,
  created_at timestamptz not null,
  currency text not null,
  kind text not null,
  -- FIX: minor units of its currency; PERCENT: basis points; SHIPPING: none
  amount bigint,
  waive_shipping_costs boolean not null,
  -- Minor units of its currency that the goods must be worth.
  minimum_order_value bigint,
  -- Orders per code, and over all codes; null: any number.
  usage_limit bigint,
  campaign_usage_limit bigint,
  -- Orders placed with any of its codes that were not cancelled.
  used bigint not null default 0,
  valid_from timestamptz,
  valid_to timestamptz,
  -- What it is restricted to; null: nothing.
  product_ids uuid[],
  shipping_method_ids uuid[],
  payment_method_ids uuid[],
  constraint coupon_campaign_pkey primary key (shop_id, campaign_id),
  constraint coupon_campaign_identifier unique (shop_id, identifier),
  constraint coupon_campaign_kind check (kind in ('FIX', 'PERCENT', 'SHIPPING')),
  constraint coupon_campaign_amount check ((kind = 'SHIPPING') = (amount is null) and amount >= 0
    and (kind <> 'PERCENT' or amount <= 10000)),
  constraint coupon_campaign_limits check (minimum_order_value >= 0 and usage_limit >= 0
    and campaign_usage_limit >= 0 and used >= 0)
);

create table coupon (
  shop_id text not null,
  -- The code in upper case: it is found ignoring case.
  code_key text not null,
  -- As it was given.
  code text not null,
  campaign_id uuid not null,
  created_at timestamptz not null,
  used bigint not null default 0,
  -- Set: it was recalled.
  withdrawn_at timestamptz,
  constraint coupon_pkey primary key (shop_id, code_key),
  constraint coupon_code_length check (length(code) between 1 and 100),
  constraint coupon_used check (used >= 0)
);

create index coupon_of_campaign on coupon (shop_id, campaign_id);

create table cart (
  shop_id text not null,
  cart_id uuid not null,
  -- SHA-256 of the cart token, which is shown once and never kept.
  token_hash bytea not null,
  created_at timestamptz not null,
  -- Its life ends 30 days later.
  changed_at timestamptz not null,
  -- Moves with every change. A change says which version it was made from, so that none is lost.
  version bigint not null,
  currency text not null,
  locale text not null,
  tax_type text not null,
  -- Known when an app made the cart for a customer, whose group may have prices of its own.
  customer_id uuid,
  -- [{"lineItemId": "...", "productId": "...", "quantity": "2", "price": 5600}]: one line per product; `price` in
  -- minor units is there when the unit price was set by hand.
  lines jsonb not null,
  -- Those of the lines, to find them by.
  product_ids uuid[] not null,
  coupon_line_item_id uuid,
  coupon_code_key text,
  -- json, not jsonb: the text goes out as it is.
  billing_address json,
  shipping_address json,
  -- null: the first one that fits
  shipping_method_id uuid,
  -- Set by hand.
  shipping_price bigint,
  -- null: the shop's first one
  payment_method_id uuid,
  -- What the provider of the method has said: its own id, and whether it failed.
  payment_transaction_id text,
  payment_status text,
  -- A payment that is none of the shop's methods, set by hand with its price.
  payment_name text,
  payment_price bigint,
  constraint cart_pkey primary key (shop_id, cart_id),
  constraint cart_tax_type check (tax_type in ('GROSS', 'NET', 'NONE')),
  constraint cart_coupon check ((coupon_line_item_id is null) = (coupon_code_key is null)),
  constraint cart_payment check ((payment_name is null) = (payment_price is null)),
  constraint cart_payment_status check (payment_status in ('CANCELED', 'FAILED'))
) with (fillfactor = 70);
-- A change fits into the page and touches no index: none of them holds what changes.

create index cart_created on cart (shop_id, created_at, cart_id);

-- For the sweep, which looks at the old ones only.
create index cart_age on cart (created_at);

-- The mail address, in lower case, that this customer was made for by an order: two orders of a new customer at once
-- make one customer. null: made by hand.
alter table customer add column ordered_as text;

alter table customer add constraint customer_ordered_as unique (shop_id, ordered_as);

create table customer_order (
  shop_id text not null,
  order_id uuid not null,
  order_number text not null,
  -- The cart it was: a cart becomes one order.
  cart_id uuid not null,
  cart_token_hash bytea not null,
  created_at timestamptz not null,
  -- null: its content was not changed since
  updated_at timestamptz,
  customer_id uuid not null,
  locale text not null,
  currency text not null,
  tax_model text not null,
  -- Minor units of its currency, as in the content.
  grand_total bigint not null,
  total_before_tax bigint not null,
  total_tax bigint not null,
  customer_comment text,
  internal_note text,
  billing_address json not null,
  shipping_address json,
  -- Lines with their texts in all languages, delivery, payment, coupon and totals, as they were.
  content jsonb not null,
  viewed_at timestamptz,
  rejected_at timestamptz,
  in_process_at timestamptz,
  pending_at timestamptz,
  ready_for_dispatch_at timestamptz,
  partially_dispatched_at timestamptz,
  dispatched_at timestamptz,
  delivered_at timestamptz,
  partially_invoiced_at timestamptz,
  invoiced_at timestamptz,
  partially_paid_at timestamptz,
  paid_at timestamptz,
  returned_at timestamptz,
  closed_at timestamptz,
  archived_at timestamptz,
  constraint customer_order_pkey primary key (shop_id, order_id),
  constraint customer_order_number unique (shop_id, order_number),
  constraint customer_order_cart unique (shop_id, cart_id),
  constraint customer_order_tax_model check (tax_model in ('GROSS', 'NET')),
  constraint customer_order_totals check (grand_total = total_before_tax + total_tax and grand_total >= 0)
);

create index customer_order_created on customer_order (shop_id, created_at, order_id);

create index customer_order_customer on customer_order (shop_id, customer_id, created_at);

insert into counter (shop_id, name, value) select shop_id, 'order', 1000 from shop;

alter table coupon_campaign add constraint coupon_campaign_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table coupon add constraint coupon_campaign
  foreign key (shop_id, campaign_id) references coupon_campaign (shop_id, campaign_id) on delete cascade;

alter table cart add constraint cart_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table cart add constraint cart_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;

alter table customer_order add constraint customer_order_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table customer_order add constraint customer_order_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id);

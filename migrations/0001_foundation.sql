-- The shop, its settings, who may call, and the first rooms.
-- Every tenant table has shop_id first in its primary key, in unique constraints and in foreign keys: a wrong
-- query can't reach another shop, and the same schema can be distributed by shop_id (Citus).
-- Money is bigint in minor units of the shop's default currency; tax rates are basis points (1900 = 19 %).
-- Localised texts are jsonb objects from locale to text: {"en_GB": "...", "de_DE": "..."}.

create table shop (
  shop_id text not null,
  created_at timestamptz not null,
  -- Moves with every change of a setting (also in the tables below), in the same transaction. What is rendered
  -- or kept in memory is validated against it.
  settings_version bigint not null,
  name jsonb not null,
  slogan jsonb not null,
  email text not null,
  logo_url text,
  country text not null,
  default_locale text not null,
  locales text[] not null,
  default_currency text not null,
  currencies text[] not null,
  -- Rate from the default currency, as decimal text: {"GBP": "0.85"}.
  exchange_rates jsonb not null,
  default_country text not null,
  countries text[] not null,
  tax_model text not null,
  display_taxes boolean not null,
  no_taxes_message text,
  delivery_threshold_is_active boolean not null,
  tax_free_outside_eu boolean not null,
  public_catalogue boolean not null,
  sell_beyond_stock boolean not null,
  mandatory_address_fields text[] not null,
  minimum_cart_code text not null,
  minimum_cart_amount bigint,
  -- [{"minimumAmount": 10000, "absolute": 1000}, {"minimumAmount": 25000, "percent": 1000}], percent in basis points.
  basket_discounts jsonb not null,
  -- Names of units in the shop's languages: {"piece": {"de_DE": {"long": "Stück"}}}; English ones are built in.
  units jsonb not null,
  constraint shop_pkey primary key (shop_id),
  constraint shop_id_form check (shop_id ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$'),
  constraint shop_locale_listed check (default_locale = any (locales)),
  constraint shop_currency_listed check (default_currency = any (currencies)),
  constraint shop_country_listed check (default_country = any (countries)),
  constraint shop_tax_model check (tax_model in ('GROSS', 'NET')),
  constraint shop_minimum_cart_code
    check (minimum_cart_code in ('SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment')),
  constraint shop_minimum_cart_amount check (minimum_cart_amount >= 0)
);

-- Per-shop numbers (customers, orders, documents): one row each, taken with update ... returning.
create table counter (
  shop_id text not null,
  name text not null,
  value bigint not null,
  constraint counter_pkey primary key (shop_id, name)
);

create table tax_class (
  shop_id text not null,
  tax_class_id uuid not null,
  -- The name in the settings file; the id stays the same when everything else changes.
  key text not null,
  name jsonb not null,
  position integer not null,
  is_default boolean not null,
  is_default_digital boolean not null,
  constraint tax_class_pkey primary key (shop_id, tax_class_id),
  constraint tax_class_key unique (shop_id, key)
);

create unique index tax_class_one_default on tax_class (shop_id) where is_default;

create unique index tax_class_one_default_digital on tax_class (shop_id) where is_default_digital;

create table tax_rate (
  shop_id text not null,
  tax_class_id uuid not null,
  country text not null,
  basis_points integer not null,
  constraint tax_rate_pkey primary key (shop_id, tax_class_id, country),
  constraint tax_rate_bounds check (basis_points between 0 and 10000)
);

create table shipping_method (
  shop_id text not null,
  shipping_method_id uuid not null,
  key text not null,
  name jsonb not null,
  description jsonb not null,
  logo_url text,
  position integer not null,
  -- flat: amount; weight: amount + amount_per_kg x weight; order_value: tiers; pickup: free, shown without a price
  kind text not null,
  amount bigint not null,
  amount_per_kg bigint not null,
  -- [{"from": 0, "amount": 700}, {"from": 5000, "amount": 0}], ascending
  tiers jsonb not null,
  free_from bigint,
  constraint shipping_method_pkey primary key (shop_id, shipping_method_id),
  constraint shipping_method_key unique (shop_id, key),
  constraint shipping_method_kind check (kind in ('flat', 'weight', 'order_value', 'pickup')),
  constraint shipping_method_amounts check (amount >= 0 and amount_per_kg >= 0 and free_from >= 0)
);

create table payment_method (
  shop_id text not null,
  payment_method_id uuid not null,
  key text not null,
  name jsonb not null,
  provider_name text,
  additional_data jsonb,
  position integer not null,
  -- May be negative: a discount for paying in advance.
  amount bigint not null,
  constraint payment_method_pkey primary key (shop_id, payment_method_id),
  constraint payment_method_key unique (shop_id, key)
);

create table newsletter_campaign (
  shop_id text not null,
  campaign_id uuid not null,
  identifier text not null,
  language text not null,
  name text not null,
  description text,
  subject text,
  position integer not null,
  constraint newsletter_campaign_pkey primary key (shop_id, campaign_id),
  constraint newsletter_campaign_identifier unique (shop_id, identifier)
);

create table newsletter_subscriber (
  shop_id text not null,
  campaign_id uuid not null,
  -- Lower case: one person subscribes once.
  email text not null,
  name text not null,
  subscribed boolean not null,
  created_at timestamptz not null,
  constraint newsletter_subscriber_pkey primary key (shop_id, campaign_id, email),
  constraint newsletter_subscriber_email check (email = lower(email))
);

create index newsletter_subscriber_created on newsletter_subscriber (shop_id, campaign_id, created_at, email);

create table legal_page (
  shop_id text not null,
  page text not null,
  locale text not null,
  -- The keys that were sent, and only those: a PUT replaces the whole page.
  content jsonb not null,
  constraint legal_page_pkey primary key (shop_id, page, locale),
  constraint legal_page_page check (page in ('contact-information', 'privacy-policy', 'terms-and-conditions',
    'rights-of-withdrawal', 'shipping-information', 'cookie-policy'))
);

create table app (
  shop_id text not null,
  -- The client id.
  app_id uuid not null,
  name text not null,
  callback_url text,
  scopes text[] not null,
  -- SHA-256 of the client secret checks a caller; the sealed secret (AES-256-GCM, key outside of the database)
  -- signs what the service sends to the app. Both are null for a private app, which only has tokens.
  secret_hash bytea,
  secret_sealed bytea,
  created_at timestamptz not null,
  constraint app_pkey primary key (shop_id, app_id),
  constraint app_name unique (shop_id, name),
  constraint app_name_length check (length(name) between 1 and 100)
);

create table token (
  shop_id text not null,
  -- SHA-256 of the token; the token itself is shown once and never kept.
  token_hash bytea not null,
  app_id uuid not null,
  scopes text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  constraint token_pkey primary key (shop_id, token_hash)
);

create index token_app on token (shop_id, app_id);

-- Single-use codes of the install flow.
create table authorisation_code (
  shop_id text not null,
  code_hash bytea not null,
  app_id uuid not null,
  expires_at timestamptz not null,
  constraint authorisation_code_pkey primary key (shop_id, code_hash)
);

create table script_tag (
  shop_id text not null,
  script_tag_id uuid not null,
  app_id uuid not null,
  script_url text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint script_tag_pkey primary key (shop_id, script_tag_id),
  constraint script_tag_https check (script_url like 'https://%' and length(script_url) <= 2000)
);

create index script_tag_app on script_tag (shop_id, app_id);

create table customer (
  shop_id text not null,
  customer_id uuid not null,
  customer_number text not null,
  created_at timestamptz not null,
  -- json, not jsonb: its text is the answer's text, all keys in their order, and goes out as it is.
  billing_address json,
  internal_note text,
  constraint customer_pkey primary key (shop_id, customer_id),
  constraint customer_number unique (shop_id, customer_number),
  constraint customer_number_form check (length(customer_number) between 1 and 64)
);

create index customer_created on customer (shop_id, created_at, customer_id);

create index customer_email on customer (shop_id, lower(billing_address ->> 'emailAddress'));

-- The first answer to a write that carried an Idempotency-Key, written in the write's own transaction.
create table idempotent_answer (
  shop_id text not null,
  -- Who sent the key (hash of the token or address) and the key itself.
  caller bytea not null,
  key text not null,
  request_hash bytea not null,
  created_at timestamptz not null,
  -- null only inside of the transaction that is still working on it
  status integer,
  headers jsonb,
  body text,
  constraint idempotent_answer_pkey primary key (shop_id, caller, key)
);

create index idempotent_answer_created on idempotent_answer (created_at);

-- Calls per token or address and hour, added up by all processes about once a second. Not a tenant's data.
create table rate_window (
  caller text not null,
  starts_at timestamptz not null,
  calls bigint not null,
  constraint rate_window_pkey primary key (caller, starts_at)
);

create index rate_window_starts on rate_window (starts_at);

-- Foreign keys come after all tables. Deleting a shop deletes everything that is the shop's.
alter table counter add constraint counter_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table tax_class add constraint tax_class_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table tax_rate add constraint tax_rate_tax_class
  foreign key (shop_id, tax_class_id) references tax_class (shop_id, tax_class_id) on delete cascade;

alter table shipping_method add constraint shipping_method_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table payment_method add constraint payment_method_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table newsletter_campaign add constraint newsletter_campaign_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table newsletter_subscriber add constraint newsletter_subscriber_campaign
  foreign key (shop_id, campaign_id) references newsletter_campaign (shop_id, campaign_id) on delete cascade;

alter table legal_page add constraint legal_page_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table app add constraint app_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table token add constraint token_app
  foreign key (shop_id, app_id) references app (shop_id, app_id) on delete cascade;

alter table authorisation_code add constraint authorisation_code_app
  foreign key (shop_id, app_id) references app (shop_id, app_id) on delete cascade;

-- Uninstalling an app removes its script tags.
alter table script_tag add constraint script_tag_app
  foreign key (shop_id, app_id) references app (shop_id, app_id) on delete cascade;

alter table customer add constraint customer_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

alter table idempotent_answer add constraint idempotent_answer_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

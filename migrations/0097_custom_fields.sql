-- Custom fields: what a merchant or an app wants to know of a product, a customer or an order beyond what everything has.

-- Whose fields begin with this name. An app that was uninstalled is installed again under another id, so it is known by
-- its name; null: the merchant.
create table custom_field_namespace (
  shop_id text not null,
  namespace text not null,
  app_name text,
  app_id uuid,
  -- When its app was uninstalled. Its fields are hidden from then on, and removed after 30 days.
  removed_at timestamptz,
  constraint custom_field_namespace_pkey primary key (shop_id, namespace),
  constraint custom_field_namespace_form check (namespace ~ '^[a-z][a-z0-9_-]{1,39}$'),
  constraint custom_field_namespace_owner check (
    (app_name is null) = (app_id is null) and (removed_at is null or app_id is not null))
);

alter table custom_field_namespace add constraint custom_field_namespace_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The clean-up looks for what is due over all shops.
create index custom_field_namespace_removed on custom_field_namespace (removed_at) where removed_at is not null;

create table custom_field (
  shop_id text not null,
  field_id uuid not null,
  -- What has it. An order has the fields of carts, and its lines those of the lines of carts, beside their own.
  resource text not null,
  namespace text not null,
  key text not null,
  type text not null,
  -- By locale.
  name jsonb not null,
  description text,
  is_list boolean not null,
  -- It has a value for each language.
  is_localised boolean not null,
  -- owner: the app whose namespace it is; merchant: also the people of the shop and their other apps; public: everybody
  readable_by text not null,
  -- owner; merchant: also the people of the shop; shopper: also whoever has the cart
  writable_by text not null,
  -- The lists of the admin are filtered by it.
  is_filter boolean not null,
  -- [{"key": "cold", "label": {"en_GB": "Cold wash"}}]
  choices jsonb,
  -- What JSON must be like.
  json_schema jsonb,
  created_at timestamptz not null,
  -- Deleted: it is hidden from then on, and the clean-up deletes its values in steps, and then the row.
  removed_at timestamptz,
  constraint custom_field_pkey primary key (shop_id, field_id),
  constraint custom_field_resource check (resource in (
    'product', 'variation', 'category', 'customer', 'cart', 'cartLine', 'order', 'orderLine', 'shop')),
  constraint custom_field_key_form check (key ~ '^[a-z][a-z0-9_-]{0,39}$'),
  constraint custom_field_type check (type in (
    'text', 'richText', 'number', 'money', 'boolean', 'date', 'choice', 'json', 'product', 'category', 'customer',
    'page', 'file')),
  constraint custom_field_readers check (readable_by in ('owner', 'merchant', 'public')),
  constraint custom_field_writers check (writable_by in ('owner', 'merchant', 'shopper')),
  -- Who writes it also reads it, and shoppers see neither customers nor orders.
  constraint custom_field_rights check (
    (readable_by <> 'owner' or writable_by = 'owner')
    and (writable_by <> 'shopper' or (readable_by = 'public' and resource in ('cart', 'cartLine')))
    and (readable_by <> 'public' or resource not in ('customer', 'order', 'orderLine'))),
  constraint custom_field_choices check ((choices is not null) = (type = 'choice')),
  constraint custom_field_schema check (json_schema is null or type = 'json'),
  constraint custom_field_filter check (
    not is_filter or type in ('text', 'number', 'boolean', 'date', 'choice')),
  constraint custom_field_localised check (not is_localised or type in ('text', 'richText', 'json', 'file')),
  constraint custom_field_lengths check (
    length(description) <= 500 and length(name::text) <= 4000 and length(choices::text) <= 40000
    and length(json_schema::text) <= 20000)
);

alter table custom_field add constraint custom_field_of_namespace
  foreign key (shop_id, namespace) references custom_field_namespace (shop_id, namespace) on delete cascade;

-- The fields of carts go over to orders, so both have one list of names.
create unique index custom_field_key on custom_field (shop_id, (case resource
  when 'order' then 'cart' when 'orderLine' then 'cartLine' else resource end), namespace, key) where removed_at is null;

create index custom_field_in_namespace on custom_field (shop_id, namespace);

create index custom_field_removed on custom_field (removed_at) where removed_at is not null;

-- One row for each value: a list has several, and a field with languages has them for each language.
create table custom_field_value (
  shop_id text not null,
  -- The product, the line, the order that has it; the shop itself has only zeros.
  resource_id uuid not null,
  field_id uuid not null,
  -- Empty: the same in all languages.
  locale text not null,
  position smallint not null,
  -- Numbers are decimal texts, money is {"amount": minor units, "currency": "EUR"}.
  value jsonb not null,
  -- What filters compare: lower case, and at most 200 characters.
  filter_key text collate "C",
  -- With what it is deleted. A line belongs to its cart or order.
  product_id uuid,
  category_id uuid,
  customer_id uuid,
  cart_id uuid,
  order_id uuid,
  -- What it refers to, and without which it says nothing.
  target_product_id uuid,
  target_category_id uuid,
  target_customer_id uuid,
  target_page_id uuid,
  target_image_key uuid,
  constraint custom_field_value_pkey primary key (shop_id, resource_id, field_id, locale, position),
  constraint custom_field_value_owner check (num_nonnulls(product_id, category_id, customer_id, cart_id, order_id) <= 1),
  constraint custom_field_value_target check (num_nonnulls(
    target_product_id, target_category_id, target_customer_id, target_page_id, target_image_key) <= 1),
  constraint custom_field_value_position check (position between 0 and 49),
  constraint custom_field_value_lengths check (length(value::text) <= 60000 and length(filter_key) <= 200)
);

create index custom_field_value_filter on custom_field_value (shop_id, field_id, filter_key, resource_id);

create index custom_field_value_product on custom_field_value (shop_id, product_id) where product_id is not null;
create index custom_field_value_category on custom_field_value (shop_id, category_id) where category_id is not null;
create index custom_field_value_customer on custom_field_value (shop_id, customer_id) where customer_id is not null;
create index custom_field_value_cart on custom_field_value (shop_id, cart_id) where cart_id is not null;
create index custom_field_value_order on custom_field_value (shop_id, order_id) where order_id is not null;

create index custom_field_value_to_product on custom_field_value (shop_id, target_product_id)
  where target_product_id is not null;
create index custom_field_value_to_category on custom_field_value (shop_id, target_category_id)
  where target_category_id is not null;
create index custom_field_value_to_customer on custom_field_value (shop_id, target_customer_id)
  where target_customer_id is not null;
create index custom_field_value_to_page on custom_field_value (shop_id, target_page_id)
  where target_page_id is not null;
create index custom_field_value_to_image on custom_field_value (shop_id, target_image_key)
  where target_image_key is not null;

alter table custom_field_value add constraint custom_field_value_field
  foreign key (shop_id, field_id) references custom_field (shop_id, field_id) on delete cascade;

alter table custom_field_value add constraint custom_field_value_of_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_of_category
  foreign key (shop_id, category_id) references category (shop_id, category_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_of_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_of_cart
  foreign key (shop_id, cart_id) references cart (shop_id, cart_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_of_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;

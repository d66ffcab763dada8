-- Every request of a person for a copy or the erasure of the data, and who carried it out. A shop has to prove what it did
-- (GDPR, article 5 (2)) after the person is gone, so the record names the customer by id and number alone, and has no
-- foreign key.
create table privacy_request (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  request_id uuid not null,
  kind text not null,
  -- Who did it: the customers themselves in their account, people and apps of the shop, or the operator by a command.
  source text not null,
  -- The email address of the person of the shop, or the name of the app.
  done_by text,
  customer_id uuid not null,
  customer_number text not null,
  created_at timestamptz not null,
  constraint privacy_request_pkey primary key (shop_id, request_id),
  constraint privacy_request_kind check (kind in ('export', 'erasure')),
  constraint privacy_request_source check (source in ('customer', 'staff', 'command')),
  constraint privacy_request_done_by check ((done_by is not null) = (source = 'staff') and length(done_by) <= 254)
);

alter table privacy_request add constraint privacy_request_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The requests of a person, for the next export; and the old ones, which are deleted.
create index privacy_request_customer on privacy_request (shop_id, customer_id, request_id);
create index privacy_request_created on privacy_request (created_at);

-- The pictures of categories count towards the space of a shop, as those of products do, since merchants choose them.
update counter set value = value + used.bytes
from (
  select category.shop_id, sum((size.value ->> 'bytes')::bigint)::bigint as bytes
  from category cross join lateral jsonb_each(category.image_sizes) as size
  where category.image_key is not null and jsonb_typeof(size.value) = 'object'
  group by category.shop_id
) as used
where counter.shop_id = used.shop_id and counter.name = 'mediaBytes';

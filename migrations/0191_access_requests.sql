
-- Customers who have asked to be let into a shop that is for some groups only: the last request of each.
create table access_request (
  shop_id text not null,
  customer_id uuid not null,
  -- The address that has signed in; the answer goes to it.
  email text not null,
  locale text not null,
  company text not null,
  vat_id text not null,
  text text not null,
  state text not null,
  asked_at timestamptz not null,
  decided_at timestamptz,
  constraint access_request_pkey primary key (shop_id, customer_id),
  constraint access_request_state check (state in ('waiting', 'approved', 'declined')),
  constraint access_request_decided check ((state = 'waiting') = (decided_at is null)),
  constraint access_request_lengths check (
    length(company) between 1 and 100 and length(vat_id) <= 30 and length(text) <= 1000)
);

create index access_request_in_state on access_request (shop_id, state, asked_at, customer_id);

alter table access_request add constraint access_request_customer
  foreign key (shop_id, customer_id) references customer (shop_id, customer_id) on delete cascade;

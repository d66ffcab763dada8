-- Versions of a list, one for each of its orders: they move when a product comes, goes or takes another place. While a
-- version stays the same, so does the position of every product, and a process may remember what it has seen where.
alter table listing_size
  add column name_version bigint not null default 0,
  add column price_version bigint not null default 0;

-- A version of what search knows of the products of a list: as long as it stays the same, a search finds the same.
alter table listing_size
  add column version bigint not null default 0;

-- A redirect leads to a page of the shop's own, too, and outlives a change of its address.
alter table redirect add column page_id uuid;

alter table redirect add constraint redirect_of_page
  foreign key (shop_id, page_id) references page (shop_id, page_id) on delete cascade;

create index redirect_page on redirect (shop_id, page_id) where page_id is not null;

alter table redirect drop constraint redirect_target;

alter table redirect add constraint redirect_target
  check (num_nonnulls(product_id, category_id, page_id, address) = case status when 301 then 1 else 0 end);

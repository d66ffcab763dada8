-- A value that refers to something is deleted with it. In a file of its own, so that each waits for few tables. Pictures
-- have no foreign key, because one that is replaced gets another key; see deleteFileValues and moveFileValues.

alter table custom_field_value add constraint custom_field_value_target_product
  foreign key (shop_id, target_product_id) references product (shop_id, product_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_target_category
  foreign key (shop_id, target_category_id) references category (shop_id, category_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_target_customer
  foreign key (shop_id, target_customer_id) references customer (shop_id, customer_id) on delete cascade;
alter table custom_field_value add constraint custom_field_value_target_page
  foreign key (shop_id, target_page_id) references page (shop_id, page_id) on delete cascade;

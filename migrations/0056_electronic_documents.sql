-- The XML of an electronic document, where it is a file of its own. null: it is inside of the PDF, or there is none.
alter table order_document add column xml bytea;

-- Documents are kept for ten years: an order with documents cannot be deleted. Only the end of the whole shop deletes
-- them. The rows that are there kept the former constraints, so nothing has to be checked.
alter table order_document drop constraint order_document_order;
alter table order_document add constraint order_document_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) not valid;
alter table order_document add constraint order_document_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade not valid;

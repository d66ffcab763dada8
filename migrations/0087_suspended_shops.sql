-- Every process reads every few seconds which shops are suspended: their domains get no certificates.
create index shop_suspended on shop (shop_id) where suspended_at is not null;

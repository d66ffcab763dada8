-- Services to a business are taxed where the business is, goods where they are delivered, so a tax class says which of
-- them it is for. The classes of existing shops are for goods, as before.
alter table tax_class add column supply text not null default 'goods'
  constraint tax_class_supply_check check (supply in ('goods', 'services'));

-- The settings of a shop become one document, so that a new setting needs neither a column nor a statement.
--
-- The document is a column of shop and not a table of its own: its version (settings_version) and the lock that changes
-- of settings take are in the same row, and one statement reads all of it in one snapshot. Amounts are in minor units
-- of the default currency, percents in basis points, texts by locale, as in the columns that it replaces.
--
-- What other statements read stays a column: locales, currencies and exchange rates, from which the lists of products
-- are built, and public_catalogue, which every caller is checked against. What other tables refer to stays a table:
-- tax classes, shipping and payment methods, newsletters, groups of customers, product types, domains.

alter table shop add column settings jsonb;

update shop set settings = jsonb_build_object(
  'name', name,
  'slogan', slogan,
  'email', email,
  'logoUrl', logo_url,
  'country', country,
  'defaultCountry', default_country,
  'countries', countries,
  'taxModel', tax_model,
  'displayTaxes', display_taxes,
  'noTaxesMessage', no_taxes_message,
  'deliveryThresholdIsActive', delivery_threshold_is_active,
  'taxFreeOutsideEu', tax_free_outside_eu,
  'sellBeyondStock', sell_beyond_stock,
  'maxPerOrder', trim_scale(max_per_order),
  'dailyEmailsPerRecipient', daily_emails_per_recipient,
  'mandatoryAddressFields', mandatory_address_fields,
  'minimumCartCode', minimum_cart_code,
  'minimumCartAmount', minimum_cart_amount,
  'basketDiscounts', basket_discounts,
  'units', units,
  'crossSellingTitle', cross_selling_title,
  'showFromPrices', show_from_prices,
  'invoicing', invoicing,
  'mailTexts', mail_texts,
  'theme', theme
);

alter table shop alter column settings set not null;

-- The checks of these columns go with them.
alter table shop
  drop column name,
  drop column slogan,
  drop column email,
  drop column logo_url,
  drop column country,
  drop column default_country,
  drop column countries,
  drop column tax_model,
  drop column display_taxes,
  drop column no_taxes_message,
  drop column delivery_threshold_is_active,
  drop column tax_free_outside_eu,
  drop column sell_beyond_stock,
  drop column max_per_order,
  drop column daily_emails_per_recipient,
  drop column mandatory_address_fields,
  drop column minimum_cart_code,
  drop column minimum_cart_amount,
  drop column basket_discounts,
  drop column units,
  drop column cross_selling_title,
  drop column show_from_prices,
  drop column invoicing,
  drop column mail_texts,
  drop column theme;

-- The same checks on the document. A condition on a key that is missing is null, which a check would let pass.
alter table shop
  add constraint shop_settings check (
    jsonb_typeof(settings) = 'object' and settings ?& array['name', 'email', 'country', 'countries', 'defaultCountry']),
  add constraint shop_country_listed check (
    coalesce(settings -> 'countries' ? (settings ->> 'defaultCountry'), false)),
  add constraint shop_tax_model check (coalesce(settings ->> 'taxModel' in ('GROSS', 'NET'), false)),
  add constraint shop_minimum_cart check (
    coalesce(
      settings ->> 'minimumCartCode' in ('SumProduct', 'SumCoupon', 'SumDiscount', 'SumDelivery', 'SumPayment'), false)
    and coalesce((settings ->> 'minimumCartAmount')::numeric >= 0, true)),
  add constraint shop_limits check (
    coalesce((settings ->> 'maxPerOrder')::numeric > 0, true)
    and coalesce((settings ->> 'dailyEmailsPerRecipient')::integer between 1 and 1000, true));

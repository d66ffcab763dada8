-- What buyers say of products.
create table review (
  shop_id text not null,
  -- Begins with its moment.
  review_id uuid not null,
  -- A master stands for all of its variations.
  product_id uuid not null,
  -- The purchase that allows it.
  order_id uuid not null,
  customer_id uuid not null,
  stars integer not null,
  title text not null,
  text text not null,
  -- The name under which it is shown.
  name text not null,
  locale text not null,
  state text not null,
  created_at timestamptz not null,
  -- The last time that its writer has changed it.
  changed_at timestamptz not null,
  answer text,
  answered_at timestamptz,
  -- Reports that the shop has not decided about.
  open_reports integer not null default 0,
  constraint review_pkey primary key (shop_id, review_id),
  constraint review_once unique (shop_id, product_id, customer_id),
  constraint review_stars check (stars between 1 and 5),
  constraint review_state check (state in ('waiting', 'published', 'rejected')),
  constraint review_answer check ((answer is null) = (answered_at is null)),
  constraint review_reports check (open_reports >= 0),
  constraint review_lengths check (
    length(title) <= 100 and length(text) <= 5000 and length(name) between 1 and 60 and length(answer) between 1 and 5000)
);

create index review_of_product on review (shop_id, product_id, review_id) where state = 'published';
create index review_in_state on review (shop_id, state, review_id);
create index review_reported on review (shop_id, review_id) where open_reports > 0;
create index review_of_customer on review (shop_id, customer_id);

alter table review add constraint review_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

-- The published reviews of a product by their stars, counted in the transaction that changes one of them.
create table product_rating (
  shop_id text not null,
  product_id uuid not null,
  one integer not null,
  two integer not null,
  three integer not null,
  four integer not null,
  five integer not null,
  constraint product_rating_pkey primary key (shop_id, product_id),
  constraint product_rating_counts check (least(one, two, three, four, five) >= 0)
);

alter table product_rating add constraint product_rating_product
  foreign key (shop_id, product_id) references product (shop_id, product_id) on delete cascade;

-- What visitors report about a review (Regulation (EU) 2022/2065, article 16).
create table review_report (
  shop_id text not null,
  -- Begins with its moment.
  report_id uuid not null,
  review_id uuid not null,
  reported_at timestamptz not null,
  reason text not null,
  -- In lower case; null: the visitor has named none.
  email text,
  -- When the shop has decided about the review.
  closed_at timestamptz,
  constraint review_report_pkey primary key (shop_id, report_id),
  constraint review_report_lengths check (length(reason) between 1 and 2000 and length(email) <= 254)
);

create index review_report_of on review_report (shop_id, review_id, report_id);
create index review_report_email on review_report (shop_id, email) where email is not null;
create index review_report_closed on review_report (closed_at) where closed_at is not null;

alter table review_report add constraint review_report_review
  foreign key (shop_id, review_id) references review (shop_id, review_id) on delete cascade;

"""Ships an order with a client that was generated from the OpenAPI document:

    KONTOR_TOKEN=demo-all python examples/python-client/ship.py ORDER_ID TRACKING_CODE
"""

import os
import sys

import kontor_manage

order_id, tracking_code = sys.argv[1:]
configuration = kontor_manage.Configuration(host=os.environ.get("KONTOR_URL", "http://localhost:8080"))
client = kontor_manage.ApiClient(
    configuration,
    header_name="Authorization",
    header_value="Bearer " + os.environ["KONTOR_TOKEN"],
)
orders = kontor_manage.OrdersApi(client)
shop = os.environ.get("SHOP", "DemoShop")

order = orders.create_shipment(
    shop,
    order_id,
    kontor_manage.ShipmentCreateRequest(carrier="DHL", tracking_code=tracking_code),
    # With its key it happens once, however often it is sent.
    idempotency_key="shipment-" + tracking_code,
)
for shipment in order.management.shipments:
    print(order.order_number, order.management.state, shipment.carrier, shipment.tracking_code)

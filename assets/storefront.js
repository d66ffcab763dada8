// Everything works without this script; with it, some things are more comfortable.

window.eComEventTarget ??= new EventTarget();

/** Tells the scripts of apps what happens in the shop. */
function tell(name, detail) {
  window.eComEventTarget.dispatchEvent(new CustomEvent(name, { detail }));
}

// The scripts of apps are deferred as this one is: they listen by now.
document.addEventListener('DOMContentLoaded', () => {
  tell('page:view', { url: location.href });
  for (const { name, detail } of JSON.parse(document.getElementById('page.events').textContent)) {
    tell(name, detail);
  }
});

// Passkeys need a script: the forms are hidden without it, and in browsers that have no passkeys.

const isSupported =
  'parseCreationOptionsFromJSON' in (window.PublicKeyCredential ?? {}) && navigator.credentials !== undefined;

/** Asks the device, and sends what it answers with the form. */
async function askDevice(form) {
  const { passkey, options } = form.dataset;
  const parsed = JSON.parse(options);
  const credential =
    passkey === 'create'
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(parsed),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(parsed),
        });
  form.elements.credential.value = JSON.stringify(credential);
  form.submit();
}

for (const form of isSupported ? document.querySelectorAll('form[data-passkey]') : []) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // Whoever closes the window of the device stays on the page.
    askDevice(form).catch(() => (form.querySelector('.error').hidden = false));
  });
}

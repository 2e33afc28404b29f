// @ts-check
// Makes the checkout kinder where scripts run: spaces in the number, errors before the round trip, one submit only,
// test cards at a click, a waiting page that moves on. The page works without it and the server checks everything again.

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form.pay'));
if (form !== null) enhanceForm(form);
const waiting = /** @type {HTMLElement | null} */ (document.querySelector('[data-poll]'));
if (waiting !== null) poll(waiting);
/** @type {HTMLElement | null} */ (document.querySelector('[autofocus]'))?.focus();
// An image that is not there leaves an even tile, not a torn one.
for (const image of document.querySelectorAll('img')) {
  const hide = () => image.replaceWith(Object.assign(document.createElement('span'), { className: image.className }));
  if (image.complete && image.naturalWidth === 0) hide();
  else image.addEventListener('error', hide);
}
// A page out of the back cache shows a form that may be spent: ask the server again.
addEventListener('pageshow', (event) => event.persisted && location.reload());

/** @param {HTMLFormElement} form */
function enhanceForm(form) {
  const messages = JSON.parse(form.dataset.messages ?? '{}');
  const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id));
  const number = input('number');
  const expiry = input('expiry');
  const cvc = input('cvc');
  const name = input('name');
  // A page that only saves a card asks for no address.
  const email = /** @type {HTMLInputElement | null} */ (document.getElementById('email'));
  const hint = document.getElementById('cvc-hint');
  const marks = /** @type {HTMLElement | null} */ (document.querySelector('.marks'));

  /** What is wrong with each field, in the words of the server's table. @type {[HTMLInputElement, () => string][]} */
  const checks = [
    [number, () => numberProblem(digits(number.value), messages)],
    [expiry, () => expiryProblem(expiry.value, messages)],
    [cvc, () => cvcProblem(digits(cvc.value), brandOf(digits(number.value)), messages)],
    [name, () => (name.value.trim() === '' ? messages.name_missing : '')],
  ];
  if (email !== null) checks.unshift([email, () => (email.value.trim() === '' || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email.value.trim()) ? '' : messages.email_form)]);

  const showBrand = () => {
    const typed = digits(number.value);
    const brand = brandOf(typed);
    if (marks !== null && typed === '') delete marks.dataset.brand;
    else if (marks !== null) marks.dataset.brand = brand;
    if (hint !== null) hint.textContent = brand === 'amex' ? messages.cvcHintAmex : messages.cvcHint;
  };
  number.addEventListener('input', () => {
    reformat(number, groupNumber);
    showBrand();
  });
  expiry.addEventListener('input', (event) => {
    const deleting = /** @type {InputEvent} */ (event).inputType?.startsWith('delete') === true;
    if (!deleting && expiry.selectionEnd === expiry.value.length) expiry.value = groupExpiry(expiry.value);
  });
  expiry.addEventListener('blur', () => {
    const parts = readExpiry(expiry.value);
    if (parts !== null) expiry.value = `${String(parts.month).padStart(2, '0')} / ${String(parts.year % 100).padStart(2, '0')}`;
  });
  showBrand();

  // A sentence that appears between press and release moves the button away from under the pointer, and the click is
  // lost. On a touch screen the click follows the release a moment later.
  let released = Promise.resolve();
  const press = () => {
    released = new Promise((resolve) => {
      for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(resolve, 100), { once: true });
    });
  };
  addEventListener('pointerdown', press, true);
  for (const [field, problem] of checks) {
    // An empty field is only a mistake once the form is sent.
    field.addEventListener('blur', async () => {
      await released;
      if (field.value.trim() !== '' && document.activeElement !== field) showProblem(field, problem());
    });
    field.addEventListener('input', () => field.hasAttribute('aria-invalid') && problem() === '' && showProblem(field, ''));
  }

  form.addEventListener('submit', (event) => {
    const button = /** @type {HTMLButtonElement} */ (form.querySelector('.primary'));
    const saved = form.querySelector('[name="method"]:checked:not([value="new"])') !== null;
    const wrong = checks.filter(([field, problem]) => (!saved || field === email) && showProblem(field, problem()));
    if (wrong.length > 0 || button.disabled) {
      event.preventDefault();
      if (!button.disabled) summarise(wrong.map(([field]) => field));
      return;
    }
    button.disabled = true;
    button.dataset.busy = '';
    const live = document.getElementById('live');
    if (live !== null) live.textContent = live.dataset.busy ?? '';
  });
  // Cancel must not follow a payment on its way.
  document.querySelector('form.cancel')?.addEventListener('submit', (event) => form.querySelector('.primary[data-busy]') !== null && event.preventDefault());

  for (const text of document.querySelectorAll('[data-fill]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = text.className;
    button.dir = 'ltr';
    button.textContent = text.textContent;
    button.setAttribute('aria-label', /** @type {HTMLElement} */ (text).dataset.label ?? '');
    button.addEventListener('click', () => fill(/** @type {HTMLElement} */ (text).dataset.fill ?? ''));
    text.replaceWith(button);
  }

  /** @param {string} card */
  function fill(card) {
    const fresh = /** @type {HTMLInputElement | null} */ (form?.querySelector('[name="method"][value="new"]'));
    if (fresh) fresh.checked = true;
    number.value = groupNumber(card);
    expiry.value = `12 / ${String((new Date().getFullYear() + 3) % 100).padStart(2, '0')}`;
    cvc.value = brandOf(card) === 'amex' ? '1234' : '123';
    if (name.value === '') name.value = 'Test Customer';
    for (const [field] of checks) showProblem(field, '');
    showBrand();
    /** @type {HTMLDetailsElement | null} */ (document.querySelector('.test-cards'))?.removeAttribute('open');
    /** @type {HTMLElement | null} */ (form?.querySelector('.primary'))?.focus();
  }
}

/** Shows or clears the sentence beside a field. @param {HTMLInputElement} field @param {string} text @returns {boolean} whether something is wrong */
function showProblem(field, text) {
  const error = document.getElementById(`${field.id}-error`);
  if (error === null) return false;
  error.textContent = text;
  error.hidden = text === '';
  const described = [text === '' ? '' : error.id, document.getElementById(`${field.id}-hint`)?.id ?? ''].filter(Boolean).join(' ');
  if (text === '') field.removeAttribute('aria-invalid');
  else field.setAttribute('aria-invalid', 'true');
  if (described === '') field.removeAttribute('aria-describedby');
  else field.setAttribute('aria-describedby', described);
  return text !== '';
}

/** @param {HTMLInputElement[]} fields */
function summarise(fields) {
  const summary = document.getElementById('errors');
  const list = summary?.querySelector('ul');
  if (!summary || !list) return;
  list.replaceChildren(
    ...fields.map((field) => {
      const link = document.createElement('a');
      link.href = `#${field.id}`;
      link.textContent = document.getElementById(`${field.id}-error`)?.textContent ?? '';
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  summary.hidden = false;
  summary.focus();
}

/** @param {string} text @param {Record<string, string>} messages */
function numberProblem(text, messages) {
  if (text === '') return messages.number_missing;
  const brand = brandOf(text);
  const shortest = brand === 'amex' ? 15 : brand === 'mastercard' ? 16 : brand === 'visa' ? 13 : 12;
  if (text.length < shortest) return messages.number_incomplete;
  let sum = 0;
  for (let i = 0; i < text.length; i++) {
    const doubled = Number(text[text.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0 && text.length <= 19 ? '' : messages.number_invalid;
}

/** @param {string} text @param {Record<string, string>} messages */
function expiryProblem(text, messages) {
  if (text.trim() === '') return messages.expiry_missing;
  const parts = readExpiry(text);
  if (parts === null) return messages.expiry_form;
  return new Date(parts.year, parts.month, 2) < new Date() ? messages.expiry_past : '';
}

/** @param {string} text @param {string} brand @param {Record<string, string>} messages */
function cvcProblem(text, brand, messages) {
  if (text === '') return messages.cvc_missing;
  if (brand === 'amex') return text.length === 4 ? '' : messages.cvc_four;
  return text.length === 3 || (brand === 'other' && text.length === 4) ? '' : messages.cvc_three;
}

/** @param {string} text */
function readExpiry(text) {
  const plain = ascii(text).replace(/\s/g, '');
  const parts = /^(\d{1,2})[/.-](\d{2}|20\d{2})$/.exec(plain) ?? /^(\d{1,2}?)(\d{2}|20\d{2})$/.exec(plain);
  const month = Number(parts?.[1]);
  return parts === null || month < 1 || month > 12 ? null : { month, year: (Number(parts[2]) % 100) + 2000 };
}

/** @param {string} text */
function groupExpiry(text) {
  const plain = ascii(text);
  if (/^\s*[2-9]\s*\/?$/.test(plain)) return `0${digits(plain)} / `;
  if (/^\s*1\s*\/$/.test(plain)) return '01 / ';
  const typed = digits(plain).slice(0, 6);
  return typed.length < 2 ? typed : `${typed.slice(0, 2)} / ${typed.slice(2)}`;
}

/** 4-6-5 for American Express, else fours. @param {string} text */
function groupNumber(text) {
  const typed = digits(text).slice(0, 19);
  const groups = brandOf(typed) === 'amex' ? /^(\d{0,4})(\d{0,6})(\d{0,5})(\d*)$/.exec(typed)?.slice(1) : typed.match(/\d{1,4}/g);
  return (groups ?? []).filter(Boolean).join(' ');
}

/** Rewrites a field and leaves the caret behind the same digit. @param {HTMLInputElement} field @param {(text: string) => string} format */
function reformat(field, format) {
  const atEnd = field.selectionEnd === field.value.length;
  const before = digits(field.value.slice(0, field.selectionEnd ?? 0)).length;
  const formatted = format(field.value);
  if (formatted === field.value) return;
  field.value = formatted;
  if (atEnd) return;
  let caret = 0;
  for (let seen = 0; seen < before && caret < formatted.length; caret++) if (/\d/.test(formatted[caret] ?? '')) seen++;
  field.setSelectionRange(caret, caret);
}

/** Only the brands whose number or code has another form. @param {string} text */
function brandOf(text) {
  if (/^4/.test(text)) return 'visa';
  if (/^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/.test(text)) return 'mastercard';
  return /^3[47]/.test(text) ? 'amex' : 'other';
}

/** @param {string} text */
function digits(text) {
  return ascii(text).replace(/\D/g, '');
}

/** Arabic-Indic, Persian, Devanagari and full-width digits as ASCII ones. @param {string} text */
function ascii(text) {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]/g, (digit) => {
    const zero = [0xff10, 0x966, 0x6f0, 0x660].find((first) => digit.charCodeAt(0) >= first) ?? 0;
    return String(digit.charCodeAt(0) - zero);
  });
}

/** Asks every two seconds, slower later, and moves on when the phase has changed. @param {HTMLElement} page */
async function poll(page) {
  const { poll: address = '', phase = '', next = '' } = page.dataset;
  for (let round = 0; ; round++) {
    await new Promise((resolve) => setTimeout(resolve, round < 30 ? 2000 : 10_000));
    if (document.hidden) continue;
    try {
      const answer = await fetch(address, { headers: { accept: 'application/json' } });
      if (answer.ok && (await answer.json()).phase !== phase) return location.replace(next);
    } catch {
      // Offline for a moment: the next round asks again.
    }
  }
}

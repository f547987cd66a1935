// The browser's storage for small comforts. Where it is full or forbidden, they are lost and nothing else is.

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(`oddkernel.${name}`));
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`oddkernel.${name}`, JSON.stringify(value));
  } catch {
    // as said above
  }
}

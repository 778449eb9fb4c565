/** Strata's mark: layers. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14171a"/><path d="M5 10h22v3H5z" fill="#8fd0f5"/><path d="M5 15h22v3H5z" fill="#2fb58a"/><path d="M5 20h22v3H5z" fill="#f0b429"/></svg>`

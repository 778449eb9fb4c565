/** Bank account numbers (ISO 13616), recognized by the country's length and two check digits. */

/** Countries by number of characters, from the registry of 2024. */
const LENGTHS: Readonly<Record<number, string>> = {
  ...{
    15: "NO",
    16: "BE",
    18: "DK|FI|FK|FO|GL|NL|SD",
    19: "MK|SI",
    20: "AT|BA|EE|KZ|LT|LU|MN|XK",
    21: "CH|CR|HR|LI|LV",
  },
  ...{ 22: "BG|BH|DE|GB|GE|IE|ME|RS|VA", 23: "AE|GI|IL|IQ|OM|SO|TL", 24: "AD|CZ|ES|MD|PK|RO|SA|SE|SK|TN|VG" },
  ...{ 25: "LY|PT|ST", 26: "IS|TR", 27: "BI|DJ|FR|GR|IT|MC|MR|SM", 28: "AL|AZ|BY|CY|DO|GT|HU|LB|NI|PL|SV" },
  ...{ 29: "BR|EG|PS|QA|UA", 30: "JO|KW|MU|YE", 31: "MT|SC", 32: "LC", 33: "RU" },
}
const MIN_DIGITS = 10 // in every country; a lower-case sentence has fewer

/** Matches a number with or without spaces between groups of four. */
const ibanPattern = ([length, countries]: readonly [string, string]): string => {
  const rest = Number(length) - 4
  const end = rest % 4 === 0 ? "" : `[ -]?[A-Z0-9]{${rest % 4}}`
  return `(?:${countries})\\d{2}(?:[ -]?[A-Z0-9]{4}){${Math.floor(rest / 4)}}${end}`
}

export const IBAN = new RegExp(
  `(?<![A-Z0-9])(?:${Object.entries(LENGTHS).map(ibanPattern).join("|")})(?![A-Z0-9])`,
  "dgi",
)
export const LIKE_IBAN = /(?<![A-Z0-9])[A-Z]{2}\d{2}[ -]?[A-Z0-9]{4}/gi

export function isIban(text: string): boolean {
  const plain = text.replace(/[ -]/g, "")
  if (plain.replace(/\D/g, "").length < MIN_DIGITS) return false
  const moved = `${plain.slice(4)}${plain.slice(0, 4)}`
  const digits = moved.replace(/[A-Z]/gi, (letter) => `${Number.parseInt(letter, 36)}`)
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1
}

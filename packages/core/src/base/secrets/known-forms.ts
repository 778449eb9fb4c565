/** Secrets with a recognizable form: tokens of known issuers, and common ways to pass credentials. */
import { IBAN, isIban, LIKE_IBAN } from "./iban.ts"
import type { FoundValue, SecretRule } from "./secret-rule.ts"
import { isCardNumber, isCredentialPair, looksRandom } from "./secret-values.ts"

const hasDigit = ({ value }: FoundValue) => /\d/.test(value)

/** A token format of an issuer: the texts with which it can start, and what follows. */
interface IssuedFormat extends Pick<SecretRule, "kind" | "isSecret"> {
  readonly starts: readonly string[]
  readonly rest: RegExp
}

const ISSUED_FORMATS: readonly IssuedFormat[] = [
  {
    kind: "private key",
    starts: ["-----BEGIN "],
    rest: /[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?=-----BEGIN )|$(?![\s\S]))/,
  },
  { kind: "private key", starts: ["Private-Lines: "], rest: /\d+\s+[A-Za-z0-9+/=\s]{20,}/ }, // PuTTY
  { kind: "private key", starts: ["AGE-SECRET-KEY-1"], rest: /[A-Z0-9]{20,}/ },
  { kind: "API key", starts: ["sk-"], rest: /[\w-]{16,}/, isSecret: hasDigit }, // Anthropic, OpenAI and others that imitate them
  { kind: "AWS key", starts: ["AKIA", "ASIA", "AIDA", "AROA", "AGPA", "ANPA"], rest: /[A-Z0-9]{16}\b/ },
  { kind: "GitHub token", starts: ["gho_", "ghp_", "ghr_", "ghs_", "ghu_"], rest: /[A-Za-z0-9]{30,}/ },
  { kind: "GitHub token", starts: ["github_pat_"], rest: /\w{30,}/ },
  { kind: "GitLab token", starts: ["glpat-", "glptt-", "glrt-", "glsoat-", "gldt-", "glcbt-"], rest: /[\w-]{18,}/ },
  { kind: "Slack token", starts: ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], rest: /[\w-]{10,}/ },
  { kind: "Slack token", starts: ["xapp-"], rest: /\d-[\w-]{10,}/ },
  {
    kind: "webhook address",
    starts: ["https://hooks.slack.com/"],
    rest: /(?:services|workflows)\/(?<secret>[\w/-]{20,})/,
  },
  { kind: "npm token", starts: ["npm_"], rest: /[A-Za-z0-9]{30,}/ },
  { kind: "PyPI token", starts: ["pypi-"], rest: /[\w-]{40,}/ },
  {
    kind: "Stripe key",
    starts: ["pk_live_", "rk_live_", "sk_live_", "pk_test_", "rk_test_", "sk_test_", "whsec_"],
    rest: /[A-Za-z0-9]{16,}/,
  },
  { kind: "Google key", starts: ["AIza"], rest: /[\w-]{30,}/ },
  { kind: "Google key", starts: ["ya29.", "GOCSPX-"], rest: /[\w-]{16,}/ },
  { kind: "SendGrid key", starts: ["SG."], rest: /[\w-]{16,}\.[\w-]{16,}/ },
  {
    kind: "API token",
    starts: [
      "hf_",
      "dckr_pat_",
      "lin_api_",
      "dop_v1_",
      "shpat_",
      "shpca_",
      "shpss_",
      "hvs.",
      "dapi",
      "rubygems_",
      "figd_",
      "gsk_",
      "r8_",
    ],
    rest: /[\w-]{24,}/,
  },
  { kind: "Mailgun key", starts: ["key-", "pubkey-"], rest: /[0-9a-f]{32}(?![0-9A-Za-z])/ },
  // personal, service, CLI, service account, SCIM, audit; a service token may name its config
  {
    kind: "Doppler token",
    starts: ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."],
    rest: /(?:[\w-]{1,40}\.)?[A-Za-z0-9]{32,}/,
  },
  { kind: "JSON web token", starts: ["eyJ"], rest: /[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/ },
]

/** A word starts where no other word ends. */
const startPattern = (start: string): string => `${/^\w/.test(start) ? "\\b" : ""}${start.replaceAll(".", "\\.")}`

/** Common forms of credentials in commands, headers and files. */
const CREDENTIAL_FORMS: readonly SecretRule[] = [
  {
    kind: "webhook address",
    pattern: /https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/(?<secret>[\w/-]{20,})/dg,
    words: ["/api/webhooks/"],
  },
  { kind: "Mailgun key", pattern: /\b[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/dg, run: 50 },
  { kind: "Telegram token", pattern: /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/dg, run: 35 },
  {
    kind: "password in an address",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,100}:(?<secret>[^\s@/"'`<>]{1,200})@/dgi,
    words: ["://"],
    needs: /:\/\/[^\s:@/"'`<>]{0,100}:[^\s@/"'`<>]{1,200}@/g,
    isSecret: ({ value }) => !/^(?:\$|%|\{|\*+$|\.+$|\[)/.test(value),
  },
  {
    kind: "key in an address",
    pattern:
      /[?&#](?:key|api[-_]?key|access[-_]?token|auth[-_]?token|id[-_]?token|token|sig|signature|secret|client[-_]?secret|password|pwd|x-amz-signature)=(?<secret>[^&\s"'`<>#)]{6,})/dgi,
    words: ["key=", "token=", "sig=", "signature=", "secret=", "password=", "pwd="],
    isSecret: ({ value }) => !/^[${<*[]/.test(value),
  },
  {
    kind: "bearer token",
    pattern: /\bbearer\s+(?<secret>[\w.~+/=-]{8,})/dgi,
    words: ["bearer"],
    isSecret: (found) => looksRandom(found.value),
  },
  {
    kind: "basic credentials",
    pattern: /\bbasic\s+(?<secret>[A-Za-z0-9+/]{8,}={0,2})/dgi,
    words: ["basic"],
    isSecret: ({ value }) => isCredentialPair(value),
  },
  {
    kind: "cookie",
    pattern: /\b(?:set-)?cookie["'`]?\s*[:=]\s*["'`]?(?<secret>[^\s=;"'`]{1,80}=[^\n"'`]{8,})/dgi,
    words: ["cookie"],
    isSecret: hasDigit,
  },
  {
    kind: "session id",
    pattern:
      /\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|session[-_]?id|sessionid|sid)\s*[=:]\s*(?<secret>[\w.%:/+-]{8,})/dgi,
    words: ["sid", "session"],
    needs: /id\s*[=:]/gi,
    isSecret: (found) => looksRandom(found.value),
  },
  {
    kind: "password",
    pattern: /\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?<secret>\S+)/dg,
    words: ["machine"],
  }, // .netrc
  {
    kind: "password",
    pattern: /^[ \t]*[\w.*-]{1,200}:(?:\d+|\*):[\w*-]+:\w+:(?<secret>\S+)$/dgm, // .pgpass
    needs: /:(?:\d+|\*):[\w*-]+:\w+:\S/g,
  },
  {
    kind: "password",
    pattern: /\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user)[\s=]+["'`]?[^\s:"'`]{1,100}:(?<secret>[^\s"'`]+)/dg,
    words: ["curl", "wget", "http"],
    isSecret: ({ value }) => !/^[${<*[]/.test(value),
  },
  { kind: "password", pattern: /\bsshpass\s+-p\s*["'`]?(?<secret>[^\s"'`$]+)/dg, words: ["sshpass"] },
  {
    kind: "password",
    pattern: /\bmysql(?:dump|admin)?\b[^\n]{0,120}?\s-p(?<secret>[^\s"'`$]{3,})/dg,
    words: ["mysql"],
  },
  {
    kind: "card number",
    pattern: /(?<![\w.-])[2-6]\d{3}(?:[ -]?\d{2,6}){2,4}(?![\w.-]*\d)/dg,
    isSecret: ({ value }) => isCardNumber(value),
  },
  { kind: "account number", pattern: IBAN, needs: LIKE_IBAN, isSecret: ({ value }) => isIban(value) },
  {
    kind: "seed phrase",
    pattern:
      /\b(?:seed|mnemonic|recovery|wallet|backup)\b[\w ]{0,40}?(?:\bis\b|\bare\b|\blautet\b|[:=])\s*["'`]?(?<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})\b/dgi,
    words: ["seed", "mnemonic", "recovery", "wallet", "backup"],
  },
]

export const KNOWN_FORMS: readonly SecretRule[] = [
  ...ISSUED_FORMATS.map(({ starts, rest, ...rule }) => ({
    ...rule,
    pattern: new RegExp(`(?:${starts.map(startPattern).join("|")})(?:${rest.source})`, "dg"),
    words: starts,
  })),
  ...CREDENTIAL_FORMS,
]

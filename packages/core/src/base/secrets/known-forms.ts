/** Secrets with a recognizable form: tokens of known issuers, and common ways to pass credentials. */
import { IBAN, isIban, LIKE_IBAN } from "./iban.ts"
import type { FoundValue, SecretRule } from "./secret-rule.ts"
import { isCardNumber, isCredentialPair, looksRandom } from "./secret-values.ts"

const hasDigit = ({ value }: FoundValue) => /\d/.test(value)

/** A token format of an issuer: how it starts, and what follows. */
interface IssuedFormat extends Pick<SecretRule, "kind" | "isSecret"> {
  readonly start: RegExp
  readonly rest: RegExp
}

const ISSUED_FORMATS: readonly IssuedFormat[] = [
  {
    kind: "private key",
    start: /-----BEGIN /,
    rest: /[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?=-----BEGIN )|$(?![\s\S]))/,
  },
  { kind: "private key", start: /\bPrivate-Lines: /, rest: /\d+\s+[A-Za-z0-9+/=\s]{20,}/ }, // PuTTY
  { kind: "private key", start: /\bAGE-SECRET-KEY-1/, rest: /[A-Z0-9]{20,}/ },
  { kind: "API key", start: /\bsk-/, rest: /[\w-]{16,}/, isSecret: hasDigit }, // Anthropic, OpenAI and others that imitate them
  { kind: "AWS key", start: /\b(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA)/, rest: /[A-Z0-9]{16}\b/ },
  { kind: "GitHub token", start: /\bgh[oprsu]_/, rest: /[A-Za-z0-9]{30,}/ },
  { kind: "GitHub token", start: /\bgithub_pat_/, rest: /\w{30,}/ },
  { kind: "GitLab token", start: /\bgl(?:pat|ptt|rt|soat|dt|cbt)-/, rest: /[\w-]{18,}/ },
  { kind: "Slack token", start: /\bxox[abeoprs]-/, rest: /[\w-]{10,}/ },
  { kind: "Slack token", start: /\bxapp-/, rest: /\d-[\w-]{10,}/ },
  {
    kind: "webhook address",
    start: /https:\/\/hooks\.slack\.com\//,
    rest: /(?:services|workflows)\/(?<secret>[\w/-]{20,})/,
  },
  {
    kind: "webhook address",
    start: /https:\/\/(?:\w+\.)?discord(?:app)?\.com\//,
    rest: /api\/webhooks\/(?<secret>[\w/-]{20,})/,
  },
  { kind: "npm token", start: /\bnpm_/, rest: /[A-Za-z0-9]{30,}/ },
  { kind: "PyPI token", start: /\bpypi-/, rest: /[\w-]{40,}/ },
  { kind: "Stripe key", start: /\b(?:[prs]k_(?:live|test)|whsec)_/, rest: /[A-Za-z0-9]{16,}/ },
  { kind: "Google key", start: /\bAIza/, rest: /[\w-]{30,}/ },
  { kind: "Google key", start: /\b(?:ya29\.|GOCSPX-)/, rest: /[\w-]{16,}/ },
  { kind: "SendGrid key", start: /\bSG\./, rest: /[\w-]{16,}\.[\w-]{16,}/ },
  {
    kind: "API token",
    start: /\b(?:hf_|dckr_pat_|lin_api_|dop_v1_|shp(?:at|ca|ss)_|hvs\.|dapi|rubygems_|figd_|gsk_|r8_)/,
    rest: /[\w-]{24,}/,
  },
  { kind: "Mailgun key", start: /\b(?:pub)?key-/, rest: /[0-9a-f]{32}(?![0-9A-Za-z])/ },
  { kind: "Mailgun key", start: /\b(?=[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b)/, rest: /[0-9a-f-]{50}(?![\w-])/ },
  // personal, service, CLI, service account, SCIM, audit; a service token may name its config
  {
    kind: "Doppler token",
    start: /\bdp\.(?:pt|st|ct|sa|scim|audit|said)\./,
    rest: /(?:[\w-]{1,40}\.)?[A-Za-z0-9]{32,}/,
  },
  { kind: "JSON web token", start: /\beyJ/, rest: /[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/ },
]

const ISSUED_STARTS = new RegExp(ISSUED_FORMATS.map(({ start }) => start.source).join("|"), "g")

/** Common forms of credentials in commands, headers and files. */
const CREDENTIAL_FORMS: readonly SecretRule[] = [
  { kind: "Telegram token", pattern: /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/dg, needs: /\d:[A-Za-z0-9_-]{35}/g },
  {
    kind: "password in an address",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,100}:(?<secret>[^\s@/"'`<>]{1,200})@/dgi,
    needs: /:\/\/[^\s:@/"'`<>]{0,100}:[^\s@/"'`<>]{1,200}@/g,
    isSecret: ({ value }) => !/^(?:\$|%|\{|\*+$|\.+$|\[)/.test(value),
  },
  {
    kind: "key in an address",
    pattern:
      /[?&#](?:key|api[-_]?key|access[-_]?token|auth[-_]?token|id[-_]?token|token|sig|signature|secret|client[-_]?secret|password|pwd|x-amz-signature)=(?<secret>[^&\s"'`<>#)]{6,})/dgi,
    isSecret: ({ value }) => !/^[${<*[]/.test(value),
  },
  {
    kind: "bearer token",
    pattern: /\bbearer\s+(?<secret>[\w.~+/=-]{8,})/dgi,
    isSecret: (found) => looksRandom(found.value),
  },
  {
    kind: "basic credentials",
    pattern: /\bbasic\s+(?<secret>[A-Za-z0-9+/]{8,}={0,2})/dgi,
    isSecret: ({ value }) => isCredentialPair(value),
  },
  {
    kind: "cookie",
    pattern: /\b(?:set-)?cookie["'`]?\s*[:=]\s*["'`]?(?<secret>[^\s=;"'`]{1,80}=[^\n"'`]{8,})/dgi,
    needs: /cookie/gi,
    isSecret: hasDigit,
  },
  {
    kind: "session id",
    pattern:
      /\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|session[-_]?id|sessionid|sid)\s*[=:]\s*(?<secret>[\w.%:/+-]{8,})/dgi,
    needs: /id\s*[=:]/gi,
    isSecret: (found) => looksRandom(found.value),
  },
  { kind: "password", pattern: /\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?<secret>\S+)/dg }, // .netrc
  {
    kind: "password",
    pattern: /^[ \t]*[\w.*-]{1,200}:(?:\d+|\*):[\w*-]+:\w+:(?<secret>\S+)$/dgm, // .pgpass
    needs: /:(?:\d+|\*):[\w*-]+:\w+:\S/g,
  },
  {
    kind: "password",
    pattern: /\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user)[\s=]+["'`]?[^\s:"'`]{1,100}:(?<secret>[^\s"'`]+)/dg,
    isSecret: ({ value }) => !/^[${<*[]/.test(value),
  },
  { kind: "password", pattern: /\bsshpass\s+-p\s*["'`]?(?<secret>[^\s"'`$]+)/dg },
  { kind: "password", pattern: /\bmysql(?:dump|admin)?\b[^\n]{0,120}?\s-p(?<secret>[^\s"'`$]{3,})/dg },
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
  },
]

export const KNOWN_FORMS: readonly SecretRule[] = [
  ...ISSUED_FORMATS.map(({ start, rest, ...rule }) => ({
    ...rule,
    pattern: new RegExp(`(?:${start.source})(?:${rest.source})`, "dgy"),
    begins: ISSUED_STARTS,
  })),
  ...CREDENTIAL_FORMS,
]

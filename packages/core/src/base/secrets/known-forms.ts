/** Secrets that are recognised by their form: what issuers made recognisable, and how programs carry credentials. */
import type { FoundValue, SecretRule } from "./secret-rule.ts"
import { isCardNumber, isCredentialPair, looksRandom } from "./secret-values.ts"

const hasDigit = ({ value }: FoundValue) => /\d/.test(value)

/** Formats that their issuers made recognisable. */
const ISSUED: readonly SecretRule[] = [
  {
    kind: "private key",
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,20000}?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$(?![\s\S]))/dg,
  },
  { kind: "private key", pattern: /\bPrivate-Lines: \d+\s+[A-Za-z0-9+/=\s]{20,}/dg }, // PuTTY
  { kind: "private key", pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/dg },
  { kind: "API key", pattern: /\bsk-[\w-]{16,}/dg, isSecret: hasDigit }, // Anthropic, OpenAI and others that imitate them
  { kind: "AWS key", pattern: /\b(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA)[A-Z0-9]{16}\b/dg },
  { kind: "GitHub token", pattern: /\bgh[oprsu]_[A-Za-z0-9]{30,}/dg },
  { kind: "GitHub token", pattern: /\bgithub_pat_\w{30,}/dg },
  { kind: "GitLab token", pattern: /\bgl(?:pat|ptt|rt|soat|dt|cbt)-[\w-]{18,}/dg },
  { kind: "Slack token", pattern: /\bxox[abeoprs]-[\w-]{10,}/dg },
  { kind: "Slack token", pattern: /\bxapp-\d-[\w-]{10,}/dg },
  { kind: "webhook address", pattern: /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/(?<secret>[\w/-]{20,})/dg },
  {
    kind: "webhook address",
    pattern: /https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/(?<secret>[\w/-]{20,})/dg,
  },
  { kind: "npm token", pattern: /\bnpm_[A-Za-z0-9]{30,}/dg },
  { kind: "PyPI token", pattern: /\bpypi-[\w-]{40,}/dg },
  { kind: "Stripe key", pattern: /\b(?:[prs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}/dg },
  { kind: "Google key", pattern: /\bAIza[\w-]{30,}/dg },
  { kind: "Google key", pattern: /\b(?:ya29\.|GOCSPX-)[\w-]{16,}/dg },
  { kind: "SendGrid key", pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/dg },
  { kind: "Telegram token", pattern: /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/dg },
  {
    kind: "API token",
    pattern: /\b(?:hf_|dckr_pat_|lin_api_|dop_v1_|shp(?:at|ca|ss)_|hvs\.|dapi|rubygems_|figd_|gsk_|r8_)[\w-]{24,}/dg,
  },
  { kind: "JSON web token", pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/dg },
]

/** Forms in which programs carry credentials. */
const CARRIED: readonly SecretRule[] = [
  {
    kind: "password in an address",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'`<>]{0,100}:(?<secret>[^\s@/"'`<>]{1,200})@/dgi,
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
    isSecret: hasDigit,
  },
  {
    kind: "session id",
    pattern:
      /\b(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|session[-_]?id|sessionid|sid)\s*[=:]\s*(?<secret>[\w.%:/+-]{8,})/dgi,
    isSecret: (found) => looksRandom(found.value),
  },
  { kind: "password", pattern: /\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?<secret>\S+)/dg }, // .netrc
  { kind: "password", pattern: /^[ \t]*[\w.*-]{1,200}:(?:\d+|\*):[\w*-]+:\w+:(?<secret>\S+)$/dgm }, // .pgpass
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
  {
    kind: "seed phrase",
    pattern:
      /\b(?:seed|mnemonic|recovery|wallet|backup)\b[\w ]{0,40}?(?:\bis\b|\bare\b|\blautet\b|[:=])\s*["'`]?(?<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})\b/dgi,
  },
]

export const KNOWN_FORMS: readonly SecretRule[] = [...ISSUED, ...CARRIED]

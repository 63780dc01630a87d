import { t } from "./texts.js"

/** The prefix of the user names that the server makes for users of other issuers. */
const issued = "oidc:"

/** Whether a user logs in at another issuer: without a password here, and with a display name. */
export const isIssued = username => username?.startsWith(issued) ?? false

/**
 * A user's name for others. A display name is never alone: any user may choose it, but no user chooses the six digits
 * behind it. U+2068 and U+2069 keep them behind it in every direction of writing.
 * @param {{username: string, displayName?: string}} person
 */
export function personName({ username, displayName }) {
  if (!isIssued(username)) return username
  return `\u2068${displayName ?? t.somebody}\u2069 · ${username.slice(5, 11)}`
}

/** The first letter of a user's name. */
export const initial = ({ username, displayName }) => [...(isIssued(username) ? displayName ?? "?" : username)][0] ?? "?"

/** The roles' names for the user. */
export const roleNames = { owner: t.owner, editor: t.editor, reader: t.reader }

/**
 * Allowed custom-scheme redirect URIs: a reversed domain (RFC 8252), or a plain name with `://` and
 * a host, as editors use. Schemes that the browser or operating system handles are refused: a
 * redirect to `ms-msdt:` or `intent:` would start a program with input the client chose.
 */
const REVERSED_DOMAIN = /^[a-z]{2,6}(\.[a-z0-9-]+)+$/
const PLAIN_NAME = /^[a-z][a-z0-9]{2,}(-[a-z0-9]+)*$/

/** Families of system schemes: ms-word, search-ms, microsoft-edge, x-apple…, itms-services. */
const SYSTEM_FAMILY =
  /^(ms|microsoft|x|itms|itmss|app|apple|chrome|edge|moz|android|facetime)-|-ms$/

const SYSTEM_NAMES = new Set(
  `about aim afp applescript appstore bingmaps bitcoin blob bzr calculator callto chrome cid cifs
   content data dav dns doi edge ethereum facetime feed feeds file filesystem ftp ftps geo git
   gopher hcp help http https imap intent irc ircs itms itmss jar javascript ldap ldaps lightning
   macappstore magnet mailto map maps market mhtml mid mms mmsto nfs news nntp onenote opera outlook
   pop prefs rdar rdp res resource rlogin rsync search sftp shell shortcuts sip sips skype smb sms
   smsto snews ssh steam svn tel telnet tftp urn vbscript view-source vnc wais webcal webdav
   windowsdefender wss wyciwyg xmpp`.split(/\s+/),
)

/** For a URI whose scheme is neither http nor https. */
export function isAppUri({ protocol, host, href }: URL): boolean {
  const scheme = protocol.slice(0, -1)
  if (REVERSED_DOMAIN.test(scheme)) return true
  if (!PLAIN_NAME.test(scheme) || SYSTEM_FAMILY.test(scheme) || SYSTEM_NAMES.has(scheme)) {
    return false
  }
  return href.startsWith(`${protocol}//`) && host !== ''
}

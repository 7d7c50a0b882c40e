export { SMTPServer } from 'smtp-server'

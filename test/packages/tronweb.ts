export { TronWeb, type Types, utils } from 'tronweb'

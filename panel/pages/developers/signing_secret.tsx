import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { OneTimeSecret } from '#panel/ui/one_time_secret.tsx'

export function SigningSecret({ secret, onClose }: { secret: string | null; onClose(): void }) {
  return (
    <Dialog open is_pinned onOpenChange={onClose} title="Signing secret">
      <OneTimeSecret label="Signing secret" text={secret ?? ''}>
        Use it to verify the Service-Signature header on each delivery.
      </OneTimeSecret>
      <DialogActions>
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}

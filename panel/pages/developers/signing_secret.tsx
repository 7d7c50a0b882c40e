import { Button } from '#panel/ui/button.tsx'
import { Dialog, DialogActions } from '#panel/ui/dialog.tsx'
import { ShownOnce } from '#panel/ui/shown_once.tsx'

export function SigningSecret({ secret, onClose }: { secret: string | null; onClose(): void }) {
  return (
    <Dialog open onOpenChange={onClose} title="The signing secret">
      <ShownOnce label="Signing secret" text={secret ?? ''}>
        Check the Service-Signature of every delivery with it.
      </ShownOnce>
      <DialogActions>
        <Button kind="main" onClick={onClose}>
          I have kept it
        </Button>
      </DialogActions>
    </Dialog>
  )
}
